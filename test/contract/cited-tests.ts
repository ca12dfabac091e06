import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { root } from './source-tree.ts';

interface Cited {
  readonly file: string;
  readonly title: string;
}

/** The rows of the table of a page, without its head. */
export function rowsOf(page: string): readonly string[] {
  const [, , ...rows] = page.split('\n').filter((line) => line.startsWith('|'));
  return rows;
}

/** Where a row says that a test is. */
export function citedIn(row: string): readonly Cited[] {
  return [...row.matchAll(/`([\w./-]+\.test\.ts)` "(.*?)"(?=,| \||;|\.?$)/g)].map(
    ([, file = '', title = '']) => ({
      file,
      title,
    }),
  );
}

/** Those that are not there. */
export function missingOf(cited: readonly Cited[]): readonly Cited[] {
  return cited.filter(({ file, title }) => {
    const path = join(root, file);
    return !existsSync(path) || !isTitleIn(readFileSync(path, 'utf8'), title);
  });
}

/** Whole, in whichever quotes it is written. */
function isTitleIn(source: string, title: string): boolean {
  return [`'`, '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`));
}
