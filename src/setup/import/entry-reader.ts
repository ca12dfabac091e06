import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

/**
 * Reads the members of a server entry from a client's configuration, or of an object in such an entry, and remembers which were used. A
 * member with an unexpected type does not count as used, so that the import can report every setting that it does not carry over.
 */
export class EntryReader {
  readonly #raw: JsonObject;
  readonly #used = new Set<string>();

  constructor(raw: JsonObject) {
    this.#raw = raw;
  }

  /** Tries the keys in order, and returns the first value that `accepts` accepts. */
  firstValue<T>(accepts: (value: unknown) => value is T, ...keys: readonly string[]): T | undefined {
    for (const key of keys) {
      const value = this.#raw[key];
      if (!accepts(value)) continue;
      this.#used.add(key);
      return value;
    }
    return undefined;
  }

  /** Returns the first value under these keys that is a non-empty string. */
  text(...keys: readonly string[]): string | undefined {
    return this.firstValue(isNonEmptyString, ...keys);
  }

  /** Returns the first value under these keys that is a list of strings, numbers and booleans, as strings. */
  list(...keys: readonly string[]): readonly string[] | undefined {
    const value = this.firstValue(isPlainList, ...keys);
    return value === undefined ? undefined : toStrings(value);
  }

  object(...keys: readonly string[]): JsonObject | undefined {
    return this.firstValue(isJsonObject, ...keys);
  }

  number(...keys: readonly string[]): number | undefined {
    return this.firstValue(isNumber, ...keys);
  }

  flag(...keys: readonly string[]): boolean | undefined {
    return this.firstValue(isBoolean, ...keys);
  }

  /** Returns the keys of unused members, except those that are null, false or empty. */
  unused(): readonly string[] {
    return Object.keys(this.#raw).filter((key) => !this.#used.has(key) && !isEmpty(this.#raw[key]));
  }
}

/** Returns the strings, numbers and booleans of a list as strings. */
export function toStrings(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => (isPlain(item) ? [String(item)] : []));
}

export function isNonEmptyString(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isPlainList(value: unknown): value is readonly (string | number | boolean)[] {
  return Array.isArray(value) && value.every(isPlain);
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || isNumber(value) || isBoolean(value);
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}
