import { createHash } from 'node:crypto';

import type { ExposedName, UpstreamName } from '../core/ids.ts';

export interface UpstreamEntryName {
  readonly upstream: UpstreamName;
  readonly name: string;
}

/** The strictest known clients and model APIs accept at most 64 characters, and only letters, digits, `_` and `-`. */
const MAX_LENGTH = 64;
/** The number of hash digits in a name at collision levels 0, 1 and 2. At level 3, the name is the hash alone. */
const HASH_LENGTHS = [0, 8, 32] as const;
const LONG_HASH = /_[0-9a-f]{32}$/;
const HASH_ONLY = /^[0-9a-f]{64}$/;

/**
 * Returns the names under which clients see entries, in the order of `own`.
 *
 * The plain name is the upstream, the separator and the entry, with every character but letters, digits, `_`
 * and `-` replaced by `_`. A plain name that is too long is truncated and ends in a hash of the original
 * pair. If several pairs have the same plain name, all of them get a hash. If one pair kept the plain name,
 * it would receive calls that a client with an older list meant for another tool. A name never depends on the
 * order of the entries, and it depends on another pair only if both have the same plain name. Entries that a
 * policy hides are included, so allowing one of them renames nothing.
 */
export function assignExposedNames(
  own: readonly UpstreamEntryName[],
  separator: string,
): readonly ExposedName[] {
  // The only place that casts a string to an exposed name.
  return assignDistinctForms(own, HASH_LENGTHS.length, (pair, level) =>
    nameForm(pair, separator, level),
  ) as ExposedName[];
}

/** Whether an upstream whose listing has not been fetched yet could have an entry with this name. */
export function canBelongTo(name: string, upstream: UpstreamName, separator: string): boolean {
  if (HASH_ONLY.test(name)) return true;
  // A truncated name keeps fewer characters in front of a longer hash.
  const hashLength = LONG_HASH.test(name) ? HASH_LENGTHS[2] : HASH_LENGTHS[1];
  return name.startsWith(sanitize(upstream + separator).slice(0, MAX_LENGTH - 1 - hashLength));
}

function nameForm(pair: UpstreamEntryName, separator: string, level: number): string {
  // This many characters are enough: the hash represents the rest of a longer name.
  const plain = sanitize((pair.upstream + separator + pair.name).slice(0, 2 * MAX_LENGTH + 2));
  if (level === 0 && plain.length <= MAX_LENGTH) return plain;
  const hash = createHash('sha256')
    .update(JSON.stringify([pair.upstream, pair.name]))
    .digest('hex');
  const hashLength = HASH_LENGTHS[Math.max(level, 1)];
  if (hashLength === undefined) return hash.slice(0, MAX_LENGTH);
  return `${plain.slice(0, MAX_LENGTH - 1 - hashLength)}_${hash.slice(0, hashLength)}`;
}

function sanitize(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/gu, '_');
}

/**
 * Assigns to each item the first of its forms that no other item has. All items with equal forms move to their next form
 * together, so the result does not depend on order. At `lastLevel`, the forms of different items must differ.
 */
export function assignDistinctForms<Item>(
  items: readonly Item[],
  lastLevel: number,
  formOf: (item: Item, level: number) => string,
): string[] {
  const forms = items.map((item) => formOf(item, 0));
  const levels = new Map<number, number>();
  for (;;) {
    const colliding = findCollisions(forms).filter((at) => (levels.get(at) ?? 0) < lastLevel);
    if (colliding.length === 0) return forms;
    for (const at of colliding) {
      const item = items[at];
      const level = (levels.get(at) ?? 0) + 1;
      levels.set(at, level);
      if (item !== undefined) forms[at] = formOf(item, level);
    }
  }
}

function findCollisions(forms: readonly string[]): readonly number[] {
  const first = new Map<string, number>();
  const found = new Set<number>();
  forms.forEach((form, at) => {
    const other = first.get(form);
    if (other === undefined) first.set(form, at);
    else found.add(other).add(at);
  });
  return [...found];
}
