import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { AdminChange } from '../contract/approval-contract.ts';

/** Limits of a first overview. Before an approval, a person must be able to see the whole definition (`NO_COMPARE_LIMITS`). */
interface CompareLimits {
  readonly changes: number;
  /** Maximum number of characters of each value. */
  readonly characters: number;
}

const LIMITS: CompareLimits = { changes: 200, characters: 4000 };
export const NO_COMPARE_LIMITS: CompareLimits = { changes: Infinity, characters: Infinity };
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** Returns the changed paths between two definitions, at most 200 unless other limits are given. */
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
  if (changes.length >= limits.changes) return;
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
  // An object that exists on one side only is shown by its members, so that its texts stay readable.
  if ((before === undefined && isJsonObject(after)) || (after === undefined && isJsonObject(before))) {
    const isEmpty = Object.keys(before ?? after ?? {}).length === 0;
    if (!isEmpty) return compare(before ?? {}, after ?? {}, where, comparison);
  }
  const [oldText, newText] = [formatValue(before, limits), formatValue(after, limits)];
  if (oldText === newText && (before === undefined) === (after === undefined)) return;
  changes.push({ where: escapeInvisible(where), before: oldText, after: newText });
}

function ownValue(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function formatValue(value: unknown, { characters }: CompareLimits): string | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = escapeInvisible(text);
  return safe.length > characters ? `${safe.slice(0, characters)}… (${safe.length} characters)` : safe;
}

/** Writes invisible characters other than line feeds as their code points. */
function escapeInvisible(text: string): string {
  return text.replaceAll(INVISIBLE, (character) =>
    character === '\n' ? character : `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  );
}
