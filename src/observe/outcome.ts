import { GatewayError, RpcError } from '../model/errors.ts';
import type { ErrorCode } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { EndedCall } from './ended-call.ts';

export const OUTCOMES = ['ok', 'tool-error', 'refused', 'failed', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Errors that say: this was not let through. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'ENTRY_NOT_FOUND',
  'ARGUMENTS_INVALID',
  'ARGUMENTS_REFUSED',
  'RATE_LIMITED',
  'CREDENTIALS_REFUSED',
  'WRONG_TIER',
  'QUARANTINED',
  'NOT_APPROVED',
  'UPSTREAM_BUSY',
  'PAUSED',
  'CONFIG_READ_ONLY',
]);

/** How an operation ended, with the code where there is one: ours, or `rpc:` and the number that the server gave. */
export function outcomeOf({ payload, error, isRefused }: EndedCall): {
  readonly outcome: Outcome;
  readonly code?: string;
} {
  if (payload !== undefined)
    return {
      outcome: isJsonObject(payload.outline) && payload.outline['isError'] === true ? 'tool-error' : 'ok',
    };
  if (error instanceof GatewayError) {
    const { code } = error;
    if (code === 'CALL_CANCELLED') return { outcome: 'cancelled', code };
    return { outcome: REFUSALS.has(code) ? 'refused' : 'failed', code };
  }
  if (error instanceof RpcError)
    return { outcome: isRefused ? 'refused' : 'tool-error', code: `rpc:${error.body.code}` };
  return { outcome: 'failed', code: 'INVARIANT' };
}
