import { GatewayError } from '../model/errors.ts';
import type { ErrorCode } from '../model/errors.ts';

/** `details.reason` of a GatewayError about the store. */
export type StoreTrouble =
  | 'busy'
  | 'full'
  | 'read-only'
  | 'unavailable'
  | 'away'
  | 'refused'
  | 'damaged'
  | 'newer'
  | 'closed';

const SENTENCES: Readonly<Record<StoreTrouble, string>> = {
  busy: 'The database is in use by another process and did not become free in time.',
  full: 'The database cannot grow: the disk is full.',
  'read-only': 'The database cannot be written: it is on a read-only disk or belongs to somebody else.',
  unavailable: 'The database cannot be opened.',
  away: 'The database cannot be reached. What is known goes on being served; nothing can be changed until it is back.',
  refused:
    'The database refuses us: check the user, the password and the name of the database in storage.url.',
  damaged: 'The database is damaged.',
  newer: 'The database was written by a newer version of Trunkline.',
  closed: 'The database was closed.',
};

/** The primary result codes of SQLite that are trouble with the store; the others are a wrong query. */
const SQLITE_TROUBLE: Readonly<Record<number, StoreTrouble>> = {
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

const SYSTEM_TROUBLE: Readonly<Record<string, StoreTrouble>> = {
  EACCES: 'read-only',
  EPERM: 'read-only',
  EROFS: 'read-only',
  ENOSPC: 'full',
  EDQUOT: 'full',
};

const CODES: Readonly<Partial<Record<StoreTrouble, ErrorCode>>> = {
  ...{ damaged: 'STORE_CORRUPT', newer: 'STORE_CORRUPT', away: 'STORE_AWAY' },
};

export function storeError(
  reason: StoreTrouble,
  options: { readonly file?: string; readonly message?: string; readonly cause?: unknown },
): GatewayError {
  return new GatewayError(CODES[reason] ?? 'STORE_LOCKED', options.message ?? SENTENCES[reason], {
    cause: options.cause,
    details: { reason, ...(options.file === undefined ? {} : { file: options.file }) },
  });
}

/** Names what SQLite, the file system or the loader of the native library threw. */
export function classifyStoreError(error: unknown, file: string): GatewayError {
  if (error instanceof GatewayError) return error;
  const sqlite = sqliteCode(error);
  if (sqlite !== undefined) {
    const reason = SQLITE_TROUBLE[sqlite];
    if (reason !== undefined) return storeError(reason, { file, cause: error });
    return new GatewayError('INVARIANT', 'The database refused a statement.', { cause: error });
  }
  return storeError(systemTrouble(error), { file, cause: error });
}

/** Without the extension in the upper bytes, so that for example SQLITE_BUSY_RECOVERY is SQLITE_BUSY. */
export function sqliteCode(error: unknown): number | undefined {
  const raw: unknown = error instanceof Error && 'rawCode' in error ? error.rawCode : undefined;
  return typeof raw === 'number' ? raw & 0xff : undefined;
}

function systemTrouble(error: unknown): StoreTrouble {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return (typeof code === 'string' ? SYSTEM_TROUBLE[code] : undefined) ?? 'unavailable';
}

export function troubleOf(error: unknown): StoreTrouble | undefined {
  const reason = error instanceof GatewayError ? error.details['reason'] : undefined;
  return typeof reason === 'string' && reason in SENTENCES ? (reason as StoreTrouble) : undefined; // Just checked.
}
