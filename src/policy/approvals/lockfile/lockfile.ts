import type { Fingerprint } from '../../../core/ids.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { ApprovalKind, ApprovalSubject } from '../approval-subject.ts';

/** The entries of one server in a lockfile. */
export interface LockedServer {
  find(kind: ApprovalKind, name: string): ApprovalSubject | undefined;
  readonly subjects: readonly ApprovalSubject[];
}

/** The reviewed definitions. While a lockfile exists, every entry that differs from it is held. */
export interface Lockfile {
  readonly file: string;
  /** Digest of the file's text. */
  readonly digest: Fingerprint;
  readonly servers: ReadonlyMap<string, LockedServer>;
}

export const LOCKFILE_NAME = 'trunkline.lock.json';
export const LOCKFILE_FORMAT = 1;

export interface LockedEntry {
  readonly fingerprint: string;
  readonly definition: JsonObject;
}

/** The JSON of the file. */
export interface LockfileDocument {
  readonly format: number;
  readonly servers: Readonly<
    Record<
      string,
      {
        readonly words?: LockedEntry | undefined;
        readonly tools: Readonly<Record<string, LockedEntry>>;
        readonly prompts: Readonly<Record<string, LockedEntry>>;
      }
    >
  >;
}
