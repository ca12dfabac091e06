import type { Fingerprint } from '../../../model/ids.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { ApprovalKind, Subject } from '../subject.ts';

/** What a lockfile has for one server. */
export interface LockedServer {
  find(kind: ApprovalKind, name: string): Subject | undefined;
  readonly subjects: readonly Subject[];
}

/** The definitions that were reviewed; with one in place, whatever differs is held. */
export interface Lock {
  readonly file: string;
  /** Of the file's text. */
  readonly digest: Fingerprint;
  readonly servers: ReadonlyMap<string, LockedServer>;
}

export const LOCK_FILE = 'trunkline.lock.json';
export const LOCK_FORMAT = 1;

export interface LockedEntry {
  readonly fingerprint: string;
  readonly definition: JsonObject;
}

/** As the file is written. */
export interface LockDocument {
  readonly format: number;
  readonly servers: Readonly<
    Record<
      string,
      {
        readonly words?: LockedEntry;
        readonly tools: Readonly<Record<string, LockedEntry>>;
        readonly prompts: Readonly<Record<string, LockedEntry>>;
      }
    >
  >;
}
