import { HIDDEN, isSecretName, maskedArgs, maskedText, maskedUrl, maskedValue } from '../config/masked.ts';
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
      return mask(key === 'command' ? maskedText(value) : maskedUrl(value));
    }
    if (Array.isArray(value)) {
      const texts = value.map((each: unknown) => (typeof each === 'string' ? each : ''));
      const args = maskedArgs(texts);
      const isSecret = isValue || isSecretName(key);
      return value.map((each: unknown, at) =>
        typeof each === 'string' && !isSecret ? mask(args[at] ?? '') : masked(key, each, isValue),
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
  const kept: Kept[] = [];
  const known = { current, shown: maskedEntry(current), path: [], kept };
  const result = restored(changes, known) as JsonObject; // An object stays one.
  if (kept.length > 0) refuseShown(kept, maskedEntry(result));
  return result;
}

/** Throws where an entry that is new holds what only stands for a value. */
export function refuseMasked(entry: JsonObject): void {
  restored(entry, { current: undefined, shown: undefined, path: [], kept: [] });
}

type Path = readonly (string | number)[];

/** A value that was restored, and what was shown in its place. */
interface Kept {
  readonly path: Path;
  readonly mask: string;
}

interface Known {
  readonly current: unknown;
  readonly shown: unknown;
  readonly path: Path;
  readonly kept: Kept[];
}

function restored(change: unknown, { current, shown, path, kept }: Known): unknown {
  if (typeof change === 'string') return restoredText(change, { current, shown, path, kept });
  if (Array.isArray(change)) {
    const [own, masks] = [listOf(current), listOf(shown)];
    return change.map((each: unknown, at) => {
      // What was moved in the list is recognised where only one can be meant.
      const isElsewhere = typeof each === 'string' && isMasked(each) && each !== masks[at];
      const isOne = isElsewhere && masks.filter((mask) => mask === each).length === 1;
      const from = isOne ? masks.indexOf(each) : at;
      return restored(each, { current: own[from], shown: masks[from], path: [...path, at], kept });
    });
  }
  if (!isJsonObject(change)) return change;
  const [own, masks] = [isJsonObject(current) ? current : {}, isJsonObject(shown) ? shown : {}];
  return Object.fromEntries(
    Object.entries(change).map(([key, each]) => {
      const known = {
        current: Object.hasOwn(own, key) ? own[key] : undefined,
        shown: Object.hasOwn(masks, key) ? masks[key] : undefined,
        ...{ path: [...path, key], kept },
      };
      return [key, restored(each, known)];
    }),
  );
}

function restoredText(change: string, { current, shown, path, kept }: Known): string {
  if (typeof current === 'string' && (change === shown || ONLY_MASK.test(change))) {
    if (typeof shown === 'string' && isMasked(shown)) kept.push({ path, mask: shown });
    return current;
  }
  if (!isMasked(change)) return change;
  throw refused(
    path,
    'which only stands for a value that is not shown; give the whole value, or leave it out to keep it.',
  );
}

/** Throws where what was hidden would be seen from now on, since it stands behind another name. */
function refuseShown(kept: readonly Kept[], again: JsonObject): void {
  for (const { path, mask } of kept) {
    const now = path.reduce<unknown>(
      (value, key) => (isJsonObject(value) || Array.isArray(value) ? Reflect.get(value, key) : undefined),
      again,
    );
    if (now !== mask)
      throw refused(
        path,
        'and what it stands for would be shown at this place; leave it behind the name that it had, or give the whole value.',
      );
  }
}

function refused(path: Path, why: string): GatewayError {
  const key = path.reduce<string>((where, each) => {
    if (typeof each === 'number') return `${where}[${each}]`;
    return where === '' ? each : `${where}.${each}`;
  }, '');
  return new GatewayError('ARGUMENTS_INVALID', `"${key}" holds ${HIDDEN}, ${why}`, { details: { key } });
}

function isMasked(text: string): boolean {
  return text.includes(HIDDEN) || ONLY_MASK.test(text);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
