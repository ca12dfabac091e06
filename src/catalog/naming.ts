import { createHash } from 'node:crypto';

import type { ExposedName, UpstreamName } from '../model/ids.ts';

export interface OwnName {
  readonly upstream: UpstreamName;
  readonly name: string;
}

/** The strictest of the known clients and model interfaces take no more, and no other characters. */
const MAX_LENGTH = 64;
const HASH_LENGTHS = [0, 8, 32] as const;

/**
 * The names under which clients see entries, in the order of `own`.
 *
 * The plain name is the upstream, the separator and the entry, with every character but letters, digits, `_` and `-`
 * replaced by `_`. A plain name that is too long is cut and ends in a hash of the original pair. Where plain names of
 * several pairs are equal, all of them get their hash and nobody keeps the plain one: whoever kept it would receive
 * calls that a client with an older list meant for another tool. So a name depends on its own pair alone, unless
 * another pair looks the same after cleaning, and never on order. The names of the entries that a policy hides take
 * part as well, so that allowing one renames none.
 */
export function exposedNames(own: readonly OwnName[], separator: string): readonly ExposedName[] {
  // The one place where a string becomes an exposed name.
  return distinct(own, HASH_LENGTHS.length, (pair, level) => form(pair, separator, level)) as ExposedName[];
}

/** Whether an upstream whose entries are unknown yet may turn out to have an entry of this name. */
export function mayBelongTo(name: string, upstream: UpstreamName, separator: string): boolean {
  return name.startsWith(clean(upstream + separator).slice(0, MAX_LENGTH - 1 - HASH_LENGTHS[1]));
}

function form(pair: OwnName, separator: string, level: number): string {
  const plain = clean(pair.upstream + separator + pair.name);
  if (level === 0 && plain.length <= MAX_LENGTH) return plain;
  const hash = createHash('sha256')
    .update(JSON.stringify([pair.upstream, pair.name]))
    .digest('hex');
  const hashLength = HASH_LENGTHS[Math.max(level, 1)];
  if (hashLength === undefined) return hash.slice(0, MAX_LENGTH);
  return `${plain.slice(0, MAX_LENGTH - 1 - hashLength)}_${hash.slice(0, hashLength)}`;
}

function clean(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/gu, '_');
}

/**
 * Gives each item the first of its forms that no other item has at the same time. All items with equal forms move on
 * to their next one together, so that the result does not depend on order. Ends at `lastLevel`, where the forms of
 * different items must differ.
 */
export function distinct<Item>(
  items: readonly Item[],
  lastLevel: number,
  formOf: (item: Item, level: number) => string,
): string[] {
  const forms = items.map((item) => formOf(item, 0));
  const levels = new Map<number, number>();
  for (;;) {
    const clashing = clashes(forms).filter((at) => (levels.get(at) ?? 0) < lastLevel);
    if (clashing.length === 0) return forms;
    for (const at of clashing) {
      const item = items[at];
      const level = (levels.get(at) ?? 0) + 1;
      levels.set(at, level);
      if (item !== undefined) forms[at] = formOf(item, level);
    }
  }
}

function clashes(forms: readonly string[]): readonly number[] {
  const first = new Map<string, number>();
  const found = new Set<number>();
  forms.forEach((form, at) => {
    const other = first.get(form);
    if (other === undefined) first.set(form, at);
    else found.add(other).add(at);
  });
  return [...found];
}
