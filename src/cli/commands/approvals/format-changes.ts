import type { AdminChange } from '../../../admin/contract/approval-contract.ts';
import { sanitize, toOneLine } from '../../sanitize.ts';
import type { CliContext } from '../../context.ts';

/** The maximum number of printed changes, unless `isFull` is set. */
const MAX_CHANGES = 40;
/** The maximum length of each printed text in characters, unless `isFull` is set. */
const MAX_CHARS = 4000;

interface FormattedChanges {
  readonly lines: readonly string[];
  /** Whether nothing was left out or shortened. */
  readonly isWhole: boolean;
}

/** Formats each change as its path, its old lines and its new lines. Shortens long output unless `isFull` is set. */
export function formatChanges(
  changes: readonly AdminChange[],
  { dim, green, red }: CliContext['out']['paint'],
  {
    isFull = false,
    advice = 'See all with --json',
  }: { readonly isFull?: boolean; readonly advice?: string } = {},
): FormattedChanges {
  const shown = isFull ? changes : changes.slice(0, MAX_CHANGES);
  const maxChars = isFull ? Infinity : MAX_CHARS;
  const lines = shown.flatMap(({ where, before, after }) => [
    dim(toOneLine(cutText(where, maxChars))),
    ...prefixLines('-', before, maxChars).map((line) => red(line)),
    ...prefixLines('+', after, maxChars).map((line) => green(line)),
  ]);
  const rest = changes.length - shown.length;
  const isWhole =
    rest === 0 &&
    shown.every(({ where, before, after }) =>
      [where, before ?? '', after ?? ''].every((text) => text.length <= maxChars),
    );
  const more = rest > 0 ? `${rest} more differences` : 'A part';
  const note = `… ${more} not shown. ${advice}`;
  return { lines: isWhole ? lines : [...lines, dim(note)], isWhole };
}

function prefixLines(sign: string, text: string | undefined, maxChars: number): readonly string[] {
  if (text === undefined) return [];
  return sanitize(cutText(text, maxChars))
    .split('\n')
    .map((line) => `${sign} ${line}`);
}

function cutText(text: string, maxChars: number): string {
  return text.length > maxChars ? `${text.slice(0, maxChars)}… (${text.length} characters)` : text;
}
