import type { DiffRow } from '../../lib/diff-lines.ts';

/** A row of a diff, or the number of folded unchanged rows. `index` is the index of the row, or of the first folded row. */
export type DiffSection =
  | { readonly index: number; readonly row: DiffRow }
  | { readonly index: number; readonly folded: number };

/** The number of unchanged rows that are shown before and after a change. */
const CONTEXT_ROWS = 3;
/** Shorter sections are not folded, because the fold would hardly save room. */
const MIN_FOLDED_ROWS = 5;

/** Folds unchanged rows that are not near a change. `unfolded` contains the index of the first row of each section to leave unfolded. */
export function foldRows(rows: readonly DiffRow[], unfolded: ReadonlySet<number>): readonly DiffSection[] {
  const nearChange = new Set<number>();
  for (const [index, { isSame }] of rows.entries())
    if (!isSame)
      for (let offset = -CONTEXT_ROWS; offset <= CONTEXT_ROWS; offset += 1) nearChange.add(index + offset);
  const sections: DiffSection[] = [];
  for (let index = 0; index < rows.length;) {
    // Finds the end of the section of rows that are not near a change. The section may be empty.
    let end = index;
    while (end < rows.length && !nearChange.has(end)) end += 1;
    if (end - index >= MIN_FOLDED_ROWS && !unfolded.has(index)) {
      sections.push({ index, folded: end - index });
      index = end;
      continue;
    }
    for (const row of rows.slice(index, Math.max(end, index + 1))) {
      sections.push({ index, row });
      index += 1;
    }
  }
  return sections;
}
