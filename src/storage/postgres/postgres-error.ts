import { GatewayError } from '../../model/errors.ts';
import { storeError } from '../store-error.ts';
import type { StoreTrouble } from '../store-error.ts';

/** States of SQL, or their classes, that are trouble with the store; the others are a wrong query. */
const TROUBLE: readonly (readonly [prefix: string, trouble: StoreTrouble])[] = [
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

/** Names what PostgreSQL, or the way there, said; `place` has no secrets in it. */
export function classifyPostgresError(error: unknown, place: string): GatewayError {
  if (error instanceof GatewayError) return error;
  const state = sqlState(error);
  // Without a state it never was there: refused, reset, timed out, not found.
  if (state === undefined) return storeError('away', { file: place, cause: error });
  const reason = TROUBLE.find(([prefix]) => state.startsWith(prefix))?.[1];
  if (reason !== undefined) return storeError(reason, { file: place, cause: error });
  return new GatewayError('INVARIANT', 'The database refused a statement.', { cause: error });
}

/** Five letters or digits, which codes of the system are not, unless they have a severity beside them. */
function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('severity' in error)) return undefined;
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined;
}

/** Host and name of the database, for messages. */
export function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'postgres';
  const { hostname, port, pathname } = new URL(url);
  return `postgres://${hostname}${port === '' ? '' : `:${port}`}${pathname}`;
}
