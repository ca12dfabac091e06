import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { requirements } from './requirements.ts';
import { cellsOf, nameOf } from './verifies.ts';

const folder = fileURLToPath(new URL('scenarios', import.meta.url));
const ids = requirements.map(({ id }) => id);

describe('requirements and scenarios', () => {
  test('every requirement has a scenario', () => {
    const shown = new Set(verified().map(({ id }) => id));
    expect(ids.filter((id) => !shown.has(id))).toEqual([]);
  });

  test('every scenario names a requirement', () => {
    expect(verified().filter(({ id }) => !ids.includes(id))).toEqual([]);
  });

  test('ids are unique and sentences end without a period', () => {
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.filter((id) => !/^[a-z0-9]+(?:[:-][a-z0-9]+)+$/.test(id))).toEqual([]);
    expect(requirements.filter(({ says }) => !/^[A-Z].*[^.]$/.test(says))).toEqual([]);
  });

  test('known failures name cells that are tried', () => {
    for (const requirement of requirements) {
      const cells = ['*', ...cellsOf(requirement).map(nameOf)];
      expect(Object.keys(requirement.knownFailures).filter((cell) => !cells.includes(cell))).toEqual([]);
    }
  });

  test('every leg of a requirement is tried', () => {
    for (const requirement of requirements) {
      const cells = cellsOf(requirement);
      expect(new Set(cells.map(({ downstream }) => downstream))).toEqual(new Set(requirement.downstream));
      expect(new Set(cells.map(({ upstream }) => upstream))).toEqual(new Set(requirement.upstream));
    }
  });
});

/** What the scenario files say they verify; an id that is not written out cannot be found and counts as none. */
function verified(): readonly { readonly file: string; readonly id: string }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const source = readFileSync(join(folder, file), 'utf8');
      return [...source.matchAll(/\bverifies\(\s*(?:'([^']*)')?/g)].map(([, id = '']) => ({ file, id }));
    });
}
