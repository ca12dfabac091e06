import { GatewayError } from '../../errors.ts';
import { storeError } from '../store-error.ts';
import type { StoreProblem } from '../store-error.ts';

/** SQL states, or prefixes of them, that mean a problem of the database; all others mean a wrong query. The first match counts. */
const PROBLEMS_BY_STATE: readonly (readonly [prefix: string, problem: StoreProblem])[] = [
  ['57014', 'busy'],
  ['55P03', 'busy'],
  ['40', 'busy'],
  ['53300', 'busy'],
  ['53', 'full'],
  ['25006', 'read-only'],
  ['42501', 'read-only'],
  ['08', 'away'],
  ['57P', 'away'],
  ['25P03', 'away'],
  ['58', 'unavailable'],
  ['28', 'refused'],
  ['3D000', 'refused'],
  ['XX', 'damaged'],
];

/** Classifies an error of PostgreSQL or of the connection. `address` contains no secrets. */
export function classifyPostgresError(error: unknown, address: string): GatewayError {
  if (error instanceof GatewayError) return error;
  const state = sqlState(error);
  // An error without a SQL state comes from the network: refused, reset, timed out, not found.
  if (state === undefined) return storeError('away', { file: address, cause: error });
  const reason = PROBLEMS_BY_STATE.find(([prefix]) => state.startsWith(prefix))?.[1];
  if (reason !== undefined) return storeError(reason, { file: address, cause: error });
  return new GatewayError('INVARIANT', 'The database refused a statement.', { cause: error });
}

/** Returns the SQL state, which has five letters or digits. System errors may have codes of that length, but they have no severity. */
function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('severity' in error)) return undefined;
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined;
}

/** Returns the address without credentials, for messages. */
export function formatPostgresAddress(url: string): string {
  if (!URL.canParse(url)) return 'postgres';
  const { hostname, port, pathname } = new URL(url);
  return `postgres://${hostname}${port === '' ? '' : `:${port}`}${pathname}`;
}
