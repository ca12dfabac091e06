import { listApprovalSubjects } from '../approval-subject.ts';
import type { ServerOffer, ApprovalSubject } from '../approval-subject.ts';
import { LOCKFILE_FORMAT } from './lockfile.ts';
import type { LockfileDocument, LockedEntry } from './lockfile.ts';

/**
 * Returns the text of a lockfile. Equal definitions give equal text, and a diff shows each change on a line of its own. `kept` are
 * the locked entries of servers whose definitions could not be fetched.
 */
export function formatLockfile(
  offers: readonly ServerOffer[],
  kept: ReadonlyMap<string, readonly ApprovalSubject[]> = new Map(),
): string {
  const servers = sortedRecord([
    ...[...kept].map(([name, subjects]) => [name, formatServer(subjects)] as const),
    ...offers.map((offer) => [offer.upstream, formatServer(listApprovalSubjects(offer))] as const),
  ]);
  const document: LockfileDocument = { format: LOCKFILE_FORMAT, servers };
  return `${JSON.stringify(sortKeys(document), null, 2)}\n`;
}

function formatServer(subjects: readonly ApprovalSubject[]): LockfileDocument['servers'][string] {
  const [words] = subjects.filter(({ kind }) => kind === 'words');
  const entriesOf = (kind: ApprovalSubject['kind']): Readonly<Record<string, LockedEntry>> =>
    sortedRecord(
      subjects
        .filter((subject) => subject.kind === kind)
        .map((subject) => [subject.name, formatEntry(subject)] as const),
    );
  return {
    words: words && formatEntry(words),
    tools: entriesOf('tool'),
    prompts: entriesOf('prompt'),
  };
}

function formatEntry({ fingerprint, definition }: ApprovalSubject): LockedEntry {
  return { fingerprint, definition };
}

function sortedRecord<Value>(pairs: readonly (readonly [string, Value])[]): Readonly<Record<string, Value>> {
  return Object.fromEntries(pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Sorts the keys of all objects, because servers write definitions in any order. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sortKeys(member)]),
  );
}
