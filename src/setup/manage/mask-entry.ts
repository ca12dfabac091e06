import {
  isSecretName,
  maskArgs,
  maskText,
  maskUrl,
  maskValue,
  SECRET_MASK,
} from '../../config/mask-secrets.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { createSecretSearch } from '../../observability/secret-formats.ts';

/** The keys of objects in which all values are masked, regardless of their names. */
const VALUE_OBJECTS: ReadonlySet<string> = new Set(['env', 'headers']);
/** A text that is nothing but a mask. Models and people may write asterisks instead. */
const ONLY_MASK = /^(?:•{3,}|\*{3,})$/;

/** Returns an entry as it is written in the file, with `•••` for known and possible secrets; references stay. */
export function maskEntry(entry: JsonObject): JsonObject {
  const search = createSecretSearch();
  const maskFormats = (text: string): string => search.mask(text, SECRET_MASK);
  const maskMember = (key: string, value: unknown, isInValueObject: boolean): unknown => {
    if (typeof value === 'string') {
      if (isInValueObject || isSecretName(key)) return maskValue(value);
      return maskFormats(key === 'command' ? maskText(value) : maskUrl(value));
    }
    if (Array.isArray(value)) {
      const texts = value.map((item: unknown) => (typeof item === 'string' ? item : ''));
      const args = maskArgs(texts);
      const isSecret = isInValueObject || isSecretName(key);
      return value.map((item: unknown, at) =>
        typeof item === 'string' && !isSecret
          ? maskFormats(args[at] ?? '')
          : maskMember(key, item, isInValueObject),
      );
    }
    if (!isJsonObject(value)) return value;
    const isValueObject = isInValueObject || VALUE_OBJECTS.has(key);
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, maskMember(name, member, isValueObject)]),
    );
  };
  return maskMember('', entry, false) as JsonObject; // The mask of an object is an object.
}

/** Replaces the masks in changes by the values that they stand for. Throws if such a value is unknown. */
export function unmaskChanges(changes: JsonObject, current: JsonObject): JsonObject {
  const restored: RestoredSecret[] = [];
  const context = { current, masked: maskEntry(current), path: [], restored };
  const result = restoreValue(changes, context) as JsonObject; // An object stays an object.
  if (restored.length > 0) assertStillMasked(restored, maskEntry(result));
  return result;
}

/** Throws if a new entry contains a mask, since there is no value for it. */
export function assertUnmasked(entry: JsonObject): void {
  restoreValue(entry, { current: undefined, masked: undefined, path: [], restored: [] });
}

type Path = readonly (string | number)[];

/** A secret that was restored, and the mask that it had. */
interface RestoredSecret {
  readonly path: Path;
  readonly mask: string;
}

interface RestoreContext {
  readonly current: unknown;
  readonly masked: unknown;
  readonly path: Path;
  readonly restored: RestoredSecret[];
}

/** Replaces masks in a change by values of `current`, and records them in `restored`. `masked` is `current` with masks. */
function restoreValue(change: unknown, { current, masked, path, restored }: RestoreContext): unknown {
  if (typeof change === 'string') return restoreText(change, { current, masked, path, restored });
  if (Array.isArray(change)) {
    const [values, masks] = [toList(current), toList(masked)];
    return change.map((item: unknown, at) => {
      // An item that was moved within the list is recognised if its mask is unique.
      const isMoved = typeof item === 'string' && isMasked(item) && item !== masks[at];
      const isUnique = isMoved && masks.filter((mask) => mask === item).length === 1;
      const from = isUnique ? masks.indexOf(item) : at;
      return restoreValue(item, {
        current: values[from],
        masked: masks[from],
        path: [...path, at],
        restored,
      });
    });
  }
  if (!isJsonObject(change)) return change;
  const [values, masks] = [isJsonObject(current) ? current : {}, isJsonObject(masked) ? masked : {}];
  return Object.fromEntries(
    Object.entries(change).map(([key, member]) => {
      const context = {
        current: Object.hasOwn(values, key) ? values[key] : undefined,
        masked: Object.hasOwn(masks, key) ? masks[key] : undefined,
        path: [...path, key],
        restored,
      };
      return [key, restoreValue(member, context)];
    }),
  );
}

function restoreText(change: string, { current, masked, path, restored }: RestoreContext): string {
  if (typeof current === 'string' && (change === masked || ONLY_MASK.test(change))) {
    if (typeof masked === 'string' && isMasked(masked)) restored.push({ path, mask: masked });
    return current;
  }
  if (!isMasked(change)) return change;
  throw maskError(path, 'which stands for a hidden value. Give the whole value, or leave it out to keep it.');
}

/** Throws if a restored secret would be displayed from now on, because it was moved to a name that is not masked. */
function assertStillMasked(restored: readonly RestoredSecret[], maskedResult: JsonObject): void {
  for (const { path, mask } of restored) {
    const current = path.reduce<unknown>(
      (value, key) => (isJsonObject(value) || Array.isArray(value) ? Reflect.get(value, key) : undefined),
      maskedResult,
    );
    if (current === mask) continue;
    throw maskError(
      path,
      'and its hidden value would be visible there. Leave it at its former name, or give the whole value.',
    );
  }
}

function maskError(path: Path, problem: string): GatewayError {
  const key = path.reduce<string>((start, step) => {
    if (typeof step === 'number') return `${start}[${step}]`;
    return start === '' ? step : `${start}.${step}`;
  }, '');
  return new GatewayError('ARGUMENTS_INVALID', `"${key}" holds ${SECRET_MASK}, ${problem}`, {
    details: { key },
  });
}

function isMasked(text: string): boolean {
  return text.includes(SECRET_MASK) || ONLY_MASK.test(text);
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
