import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { AdminChange } from '../contract/approval-contract.ts';

/** The maximum size of a comparison. Overviews use `LIMITS`; approvals use `NO_COMPARE_LIMITS`, so that nothing is hidden. */
interface CompareLimits {
  readonly maxChanges: number;
  /** Maximum number of characters of each value. */
  readonly maxCharacters: number;
}

const LIMITS: CompareLimits = { maxChanges: 200, maxCharacters: 4000 };
export const NO_COMPARE_LIMITS: CompareLimits = { maxChanges: Infinity, maxCharacters: Infinity };
/** Number of characters that are shown before the first difference of two long texts. */
const CONTEXT = 200;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** Returns the differences between two definitions, at most 200 unless other limits are given. */
export function compareDefinitions(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
  limits: CompareLimits = LIMITS,
): readonly AdminChange[] {
  const comparison = { changes: [], limits };
  compare(before ?? {}, after ?? {}, '', comparison);
  return comparison.changes;
}

interface Comparison {
  readonly changes: AdminChange[];
  readonly limits: CompareLimits;
}

function compare(before: unknown, after: unknown, where: string, comparison: Comparison): void {
  const { changes, limits } = comparison;
  if (changes.length >= limits.maxChanges) return;
  if (isJsonObject(before) && isJsonObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    for (const key of keys)
      compare(
        ownValue(before, key),
        ownValue(after, key),
        where === '' ? key : `${where}.${key}`,
        comparison,
      );
    return;
  }
  // An added or removed object is shown member by member, so that its texts stay readable.
  if ((before === undefined && isJsonObject(after)) || (after === undefined && isJsonObject(before))) {
    const isEmpty = Object.keys(before ?? after ?? {}).length === 0;
    if (!isEmpty) return compare(before ?? {}, after ?? {}, where, comparison);
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  changes.push({ where: escapeInvisible(where), ...formatChange(before, after, limits) });
}

function ownValue(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function formatChange(
  before: unknown,
  after: unknown,
  { maxCharacters }: CompareLimits,
): { readonly before: string | undefined; readonly after: string | undefined } {
  let [oldText, newText] = [formatValue(before), formatValue(after)];
  // In JSON, quotes distinguish the text "1" from the number 1, and a doubled backslash distinguishes a literal \u{200b} from an escaped invisible character.
  if (oldText === newText) [oldText, newText] = [formatJson(before), formatJson(after)];
  // If the first difference lies beyond the maximum length, the shown part begins shortly before it.
  const difference = firstDifference(oldText ?? '', newText ?? '');
  const start = difference < maxCharacters ? 0 : difference - CONTEXT;
  const cut = (text: string): string => {
    if (start === 0 && text.length <= maxCharacters) return text;
    const part = text.slice(start, start + maxCharacters);
    return `${start > 0 ? '…' : ''}${part}… (${text.length} characters)`;
  };
  return { before: oldText && cut(oldText), after: newText && cut(newText) };
}

function formatValue(value: unknown): string | undefined {
  return typeof value === 'string' ? escapeInvisible(value) : formatJson(value);
}

function formatJson(value: unknown): string | undefined {
  return value === undefined ? undefined : escapeInvisible(JSON.stringify(value));
}

/** Returns the index of the first character that differs. */
function firstDifference(first: string, second: string): number {
  let index = 0;
  while (index < first.length && first[index] === second[index]) index++;
  return index;
}

/** Writes invisible characters other than line feeds as their code points. */
function escapeInvisible(text: string): string {
  return text.replaceAll(INVISIBLE, (character) =>
    character === '\n' ? character : `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  );
}
