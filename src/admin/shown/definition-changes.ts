import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { AdminChange } from '../contract/approval-contract.ts';

const MAX_CHANGES = 200;
const MAX_CHARS = 4000;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** Place by place, what differs between two definitions. */
export function definitionChanges(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): readonly AdminChange[] {
  const changes: AdminChange[] = [];
  compare(before ?? {}, after ?? {}, '', changes);
  return changes.slice(0, MAX_CHANGES);
}

function compare(before: unknown, after: unknown, where: string, changes: AdminChange[]): void {
  if (changes.length > MAX_CHANGES) return;
  if (isJsonObject(before) && isJsonObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    for (const key of keys)
      compare(own(before, key), own(after, key), where === '' ? key : `${where}.${key}`, changes);
    return;
  }
  // What is there on one side only is shown by its parts, so that texts inside can be read.
  if ((before === undefined && isJsonObject(after)) || (after === undefined && isJsonObject(before))) {
    const isEmpty = Object.keys(before ?? after ?? {}).length === 0;
    if (!isEmpty) return compare(before ?? {}, after ?? {}, where, changes);
  }
  const [was, is] = [shown(before), shown(after)];
  if (was === is && (before === undefined) === (after === undefined)) return;
  changes.push({
    where: visible(where),
    ...(was !== undefined && { before: was }),
    ...(is !== undefined && { after: is }),
  });
}

function own(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function shown(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = visible(text);
  return safe.length > MAX_CHARS ? `${safe.slice(0, MAX_CHARS)}… (${safe.length} characters)` : safe;
}

/** Line ends stay; whatever else does not show is written as its code point. */
function visible(text: string): string {
  return text.replaceAll(UNSEEN, (character) =>
    character === '\n' ? character : `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  );
}
