import { GatewayError, RpcError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import type { CompletedCall } from './completed-call.ts';

export const OUTCOMES = ['ok', 'tool-error', 'refused', 'failed', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The error codes with which the gateway refuses a call; they say nothing about the server. */
const REFUSAL_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
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

/** Returns the outcome of an operation and its error code: one of ours, or `rpc:` and the number that the server sent. */
export function classifyOutcome({ payload, error, isRefused }: CompletedCall): {
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
    return { outcome: REFUSAL_CODES.has(code) ? 'refused' : 'failed', code };
  }
  if (error instanceof RpcError)
    return { outcome: isRefused ? 'refused' : 'tool-error', code: `rpc:${error.body.code}` };
  return { outcome: 'failed', code: 'INVARIANT' };
}
