import { describe, expect, test } from 'vitest';

import { memoryView } from '../../test/support/memory-view.ts';
import type { CatalogView } from '../gateway/catalog-view.ts';
import type { UpstreamName } from '../core/ids.ts';
import { chooseExposure } from './choose-exposure.ts';

const options = { pin: [], callTools: 'tiers', reveal: false } as const;
const facts = { era: 'legacy' as const, protocol: 'x', info: {}, capabilities: {} };
const listed = [{ name: 'files' as UpstreamName, facts }];

/** A tool costs about 30 tokens. */
function viewOf(tools: number, servers: CatalogView['servers'] = listed): CatalogView {
  return memoryView(
    Array.from({ length: tools }, (_, at) => `tool_${at}`),
    { servers },
  );
}

describe('choice of exposure', () => {
  test('exposure choice: follows an explicit direct or search setting, whatever the catalog holds', () => {
    for (const kind of ['direct', 'search'] as const) {
      const choose = chooseExposure({ ...options, kind, directBudget: 100 });
      expect([viewOf(0), viewOf(1000)].map((view) => choose(view).kind)).toEqual([kind, kind]);
    }
  });

  test('exposure choice: follows an explicit code setting', () => {
    const scripts = {
      ...chooseExposure({ ...options, kind: 'search', directBudget: 0 })(viewOf(1)),
      kind: 'code' as const,
    };
    const choose = chooseExposure({ ...options, kind: 'code', directBudget: 1000, code: scripts });
    expect([viewOf(0), viewOf(1000)].map((view) => choose(view).kind)).toEqual(['code', 'code']);
  });

  test('exposure choice: is direct in auto while the tools cost less than the budget', () => {
    const choose = chooseExposure({ ...options, kind: 'auto', directBudget: 1000 });
    expect([0, 1, 20, 100].map((count) => choose(viewOf(count)).kind)).toEqual([
      'direct',
      'direct',
      'direct',
      'search',
    ]);
    const none = chooseExposure({ ...options, kind: 'auto', directBudget: 0 });
    expect(none(viewOf(1)).kind).toBe('search');
  });

  test('exposure choice: is search in auto until every server was listed', () => {
    const choose = chooseExposure({ ...options, kind: 'auto', directBudget: 1000 });
    expect(choose(viewOf(1, [...listed, { name: 'late' as UpstreamName }])).kind).toBe('search');
  });

  test('exposure choice: is described in the instructions', () => {
    const choose = chooseExposure({ ...options, kind: 'auto', directBudget: 1000 });
    expect(choose(viewOf(1)).instructions(viewOf(1))).toContain('are all listed');
    expect(choose(viewOf(100)).instructions(viewOf(100))).toContain('are not listed');
  });
});
