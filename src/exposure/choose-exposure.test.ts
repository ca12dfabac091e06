import { describe, expect, test } from 'vitest';

import { memoryView } from '../../test/support/memory-view.ts';
import type { View } from '../gateway/view.ts';
import type { UpstreamName } from '../model/ids.ts';
import { chooseExposure } from './choose-exposure.ts';

const options = { pin: [], callTools: 'tiers', reveal: false } as const;
const facts = { era: 'legacy' as const, protocol: 'x', info: {}, capabilities: {} };
const listed = [{ name: 'files' as UpstreamName, facts }];

/** A tool costs about 30 tokens. */
function viewOf(tools: number, servers: View['servers'] = listed): View {
  return memoryView(
    Array.from({ length: tools }, (_, at) => `tool_${at}`),
    { servers },
  );
}

describe('the exposure of a view', () => {
  test('is the one that was asked for, whatever there is', () => {
    for (const kind of ['direct', 'search'] as const) {
      const choose = chooseExposure({ ...options, kind, directBudget: 100 });
      expect([viewOf(0), viewOf(1000)].map((view) => choose(view).kind)).toEqual([kind, kind]);
    }
  });

  test('is code where that was asked for and there is one', () => {
    const scripts = {
      ...chooseExposure({ ...options, kind: 'search', directBudget: 0 })(viewOf(1)),
      kind: 'code' as const,
    };
    const choose = chooseExposure({ ...options, kind: 'code', directBudget: 1000, code: scripts });
    expect([viewOf(0), viewOf(1000)].map((view) => choose(view).kind)).toEqual(['code', 'code']);
  });

  test('is by default direct while the tools cost less than the budget', () => {
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

  test('is by default search until every server was listed', () => {
    const choose = chooseExposure({ ...options, kind: 'auto', directBudget: 1000 });
    expect(choose(viewOf(1, [...listed, { name: 'late' as UpstreamName }])).kind).toBe('search');
  });

  test('is told in the instructions', () => {
    const choose = chooseExposure({ ...options, kind: 'auto', directBudget: 1000 });
    expect(choose(viewOf(1)).instructions(viewOf(1))).toContain('are all listed');
    expect(choose(viewOf(100)).instructions(viewOf(100))).toContain('are not listed');
  });
});
