import { subjectsOf } from '../subject.ts';
import type { Offered, Subject } from '../subject.ts';
import { LOCK_FORMAT } from './lock.ts';
import type { LockDocument, LockedEntry } from './lock.ts';

/** What servers offer as the text of a lockfile: the same offer gives the same text, with one change per line of a diff. */
export function writeLock(offers: readonly Offered[]): string {
  const servers = inOrder(offers.map((offer) => [offer.upstream, lockedServer(subjectsOf(offer))] as const));
  const document: LockDocument = { format: LOCK_FORMAT, servers };
  return `${JSON.stringify(ordered(document), null, 2)}\n`;
}

function lockedServer(subjects: readonly Subject[]): LockDocument['servers'][string] {
  const [words] = subjects.filter(({ kind }) => kind === 'words');
  const of = (kind: Subject['kind']): Readonly<Record<string, LockedEntry>> =>
    inOrder(
      subjects.filter((each) => each.kind === kind).map((each) => [each.name, lockedEntry(each)] as const),
    );
  return {
    ...(words !== undefined && { words: lockedEntry(words) }),
    tools: of('tool'),
    prompts: of('prompt'),
  };
}

function lockedEntry({ fingerprint, definition }: Subject): LockedEntry {
  return { fingerprint, definition };
}

function inOrder<Value>(pairs: readonly (readonly [string, Value])[]): Readonly<Record<string, Value>> {
  return Object.fromEntries(pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Keys of definitions in one order, whatever order a server writes them in. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, ordered(member)]),
  );
}
