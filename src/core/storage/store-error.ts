import { GatewayError } from '../errors.ts';
import type { ErrorCode } from '../errors.ts';

/** The kind of a database problem, which is `details.reason` of its GatewayError. */
export type StoreProblem =
  | 'busy'
  | 'full'
  | 'read-only'
  | 'unavailable'
  | 'away'
  | 'refused'
  | 'damaged'
  | 'newer'
  | 'closed';

const SENTENCES: Readonly<Record<StoreProblem, string>> = {
  busy: 'The database is in use by another process and did not become free in time.',
  full: 'The database cannot grow: the disk is full.',
  'read-only': 'The database cannot be written: it is on a read-only disk or belongs to another user.',
  unavailable: 'The database cannot be opened.',
  away: 'The database cannot be reached. The gateway serves the servers and tools that it knows; changes fail until the database can be reached again.',
  refused:
    'The database rejected the login. Check the user, the password and the name of the database in storage.url.',
  damaged: 'The database is damaged.',
  newer: 'The database was written by a newer version of Trunkline.',
  closed: 'The database was closed.',
};

/** Primary result codes of SQLite that mean a problem of the database; all others mean a wrong query. */
const SQLITE_PROBLEMS: Readonly<Record<number, StoreProblem>> = {
  3: 'read-only',
  5: 'busy',
  6: 'busy',
  8: 'read-only',
  10: 'unavailable',
  11: 'damaged',
  13: 'full',
  14: 'unavailable',
  26: 'damaged',
};

const SYSTEM_PROBLEMS: Readonly<Record<string, StoreProblem>> = {
  EACCES: 'read-only',
  EPERM: 'read-only',
  EROFS: 'read-only',
  ENOSPC: 'full',
  EDQUOT: 'full',
};

/** The error codes of problems; all others have the code STORE_LOCKED. */
const CODES: Readonly<Partial<Record<StoreProblem, ErrorCode>>> = {
  damaged: 'STORE_CORRUPT',
  newer: 'STORE_CORRUPT',
  away: 'STORE_AWAY',
};

export function storeError(
  reason: StoreProblem,
  options: { readonly file?: string; readonly message?: string; readonly cause?: unknown },
): GatewayError {
  return new GatewayError(CODES[reason] ?? 'STORE_LOCKED', options.message ?? SENTENCES[reason], {
    cause: options.cause,
    details: { reason, file: options.file },
  });
}

/** Classifies an error of SQLite, the file system or the loader of the native library. */
export function classifyStoreError(error: unknown, file: string): GatewayError {
  if (error instanceof GatewayError) return error;
  const sqlite = sqliteCode(error);
  if (sqlite !== undefined) {
    const reason = SQLITE_PROBLEMS[sqlite];
    if (reason !== undefined) return storeError(reason, { file, cause: error });
    return new GatewayError('INVARIANT', 'The database refused a statement.', { cause: error });
  }
  return storeError(systemProblem(error), { file, cause: error });
}

/** Returns the primary result code of a SQLite error, which is the low byte of the extended code; undefined for other errors. */
export function sqliteCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return typeof code === 'number' ? code & 0xff : undefined;
}

function extendedCode(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined;
  if ('rawCode' in error) return error.rawCode; // libsql
  return 'errcode' in error ? error.errcode : undefined; // node:sqlite
}

function systemProblem(error: unknown): StoreProblem {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return (typeof code === 'string' ? SYSTEM_PROBLEMS[code] : undefined) ?? 'unavailable';
}

/** Returns the kind of a database problem; undefined if the error is not about the database. */
export function storeProblemOf(error: unknown): StoreProblem | undefined {
  const reason = error instanceof GatewayError ? error.details['reason'] : undefined;
  return typeof reason === 'string' && reason in SENTENCES ? (reason as StoreProblem) : undefined; // The keys of SENTENCES are all problems.
}
