import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { root } from './source-tree.ts';

const page = readFileSync(join(root, 'docs', 'security-model.md'), 'utf8');
const rows = page.split('\n').filter((line) => /^\| (?!attack |-)/.test(line) && !line.startsWith('|---'));

/** Where a row says that a test is. */
function citedIn(row: string): readonly { readonly file: string; readonly title: string }[] {
  return [...row.matchAll(/`([\w./-]+\.test\.ts)` "([^"]+)"/g)].map(([, file = '', title = '']) => ({
    file,
    title,
  }));
}

/** Whole, in whichever quotes it is written. */
function isTitleIn(source: string, title: string): boolean {
  return [`'`, '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`));
}

describe('the table of attacks', () => {
  test('has an answer and a test in each row', () => {
    expect(rows.length).toBeGreaterThan(25);
    expect(rows.filter((row) => citedIn(row).length === 0)).toEqual([]);
    for (const row of rows) expect(row.split(' | ')).toHaveLength(3);
  });

  test('names tests that there are', () => {
    const missing = rows.flatMap(citedIn).filter(({ file, title }) => {
      const path = join(root, file);
      return !existsSync(path) || !isTitleIn(readFileSync(path, 'utf8'), title);
    });
    expect(missing).toEqual([]);
  });
});
