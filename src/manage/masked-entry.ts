import { HIDDEN, isSecretName, maskedArgs, maskedUrl, maskedValue } from '../config/masked.ts';
import { GatewayError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import { secretSearch } from '../observe/secret-formats.ts';

/** Everything below these is a value, whatever its name. */
const VALUES: ReadonlySet<string> = new Set(['env', 'headers']);
const ONLY_MASK = /^(?:•{3,}|\*{3,})$/;

/** An entry as it stands in the file, with `•••` where a secret is or may be; references stay. */
export function maskedEntry(entry: JsonObject): JsonObject {
  const search = secretSearch();
  const mask = (text: string): string => search.mask(text, HIDDEN);
  const masked = (key: string, value: unknown, isValue: boolean): unknown => {
    if (typeof value === 'string') {
      if (isValue || isSecretName(key)) return maskedValue(value);
      return mask(/^https?:/i.test(value) ? maskedUrl(value) : value);
    }
    if (Array.isArray(value)) {
      const texts = value.map((each: unknown) => (typeof each === 'string' ? each : ''));
      const args = maskedArgs(texts);
      return value.map((each: unknown, at) =>
        typeof each === 'string' ? mask(args[at] ?? '') : masked(key, each, isValue),
      );
    }
    if (!isJsonObject(value)) return value;
    const isBelow = isValue || VALUES.has(key);
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, masked(name, each, isBelow)]),
    );
  };
  return masked('', entry, false) as JsonObject; // An object is masked as an object.
}

/** Changes in which what was shown masked and came back is what it stands for; throws where that cannot be known. */
export function unmasked(changes: JsonObject, current: JsonObject): JsonObject {
  return restored(changes, { current, shown: maskedEntry(current), where: '' }) as JsonObject; // An object stays one.
}

/** Throws where an entry that is new holds what only stands for a value. */
export function refuseMasked(entry: JsonObject): void {
  restored(entry, { current: undefined, shown: undefined, where: '' });
}

interface Known {
  readonly current: unknown;
  readonly shown: unknown;
  readonly where: string;
}

function restored(change: unknown, { current, shown, where }: Known): unknown {
  if (typeof change === 'string') return restoredText(change, { current, shown, where });
  if (Array.isArray(change)) {
    const [own, masks] = [listOf(current), listOf(shown)];
    return change.map((each: unknown, at) => {
      const known = { current: own[at], shown: masks[at], where: `${where}[${at}]` };
      // What was moved in the list is recognised where only one can be meant.
      const isElsewhere = typeof each === 'string' && isMasked(each) && each !== known.shown;
      const found = isElsewhere && masks.filter((mask) => mask === each).length === 1;
      return found ? own[masks.indexOf(each)] : restored(each, known);
    });
  }
  if (!isJsonObject(change)) return change;
  const [own, masks] = [isJsonObject(current) ? current : {}, isJsonObject(shown) ? shown : {}];
  return Object.fromEntries(
    Object.entries(change).map(([key, each]) => {
      const known = {
        current: Object.hasOwn(own, key) ? own[key] : undefined,
        shown: Object.hasOwn(masks, key) ? masks[key] : undefined,
        where: where === '' ? key : `${where}.${key}`,
      };
      return [key, restored(each, known)];
    }),
  );
}

function restoredText(change: string, { current, shown, where }: Known): string {
  if (typeof current === 'string' && (change === shown || ONLY_MASK.test(change))) return current;
  if (!isMasked(change)) return change;
  throw new GatewayError(
    'ARGUMENTS_INVALID',
    `"${where}" holds ${HIDDEN}, which only stands for a value that is not shown; give the whole value, or leave it out to keep it.`,
    { details: { key: where } },
  );
}

function isMasked(text: string): boolean {
  return text.includes(HIDDEN) || ONLY_MASK.test(text);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
