import type { DiffRow } from '../../lib/diff-lines.ts';

/** A line, or how many lines without a difference stand for themselves; `at` is where it is in the whole. */
export type DiffPart =
  | { readonly at: number; readonly row: DiffRow }
  | { readonly at: number; readonly folded: number };

/** Lines around a difference that are always shown. */
const AROUND = 3;
/** Less is not worth a fold. */
const LEAST = 5;

export function foldRows(rows: readonly DiffRow[], opened: ReadonlySet<number>): readonly DiffPart[] {
  const near = new Set<number>();
  for (const [at, { isSame }] of rows.entries())
    if (!isSame) for (let by = -AROUND; by <= AROUND; by += 1) near.add(at + by);
  const parts: DiffPart[] = [];
  for (let at = 0; at < rows.length;) {
    let end = at;
    while (end < rows.length && !near.has(end)) end += 1;
    if (end - at >= LEAST && !opened.has(at)) {
      parts.push({ at, folded: end - at });
      at = end;
      continue;
    }
    for (const row of rows.slice(at, Math.max(end, at + 1))) {
      parts.push({ at, row });
      at += 1;
    }
  }
  return parts;
}
