import { GatewayError, isErrorCode, RpcError } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import type { AdminProblem } from './contract/contract.ts';

/** Converts an error to the body of an error response and its HTTP status. */
export function toAdminProblem(error: unknown): { readonly status: number; readonly problem: AdminProblem } {
  if (error instanceof RpcError) return { status: 502, problem: { error: { rpc: error.body } } };
  // The message of an unexpected error may contain secrets, so it is not sent.
  const own = error instanceof GatewayError ? error : new GatewayError('INVARIANT', 'Internal error.');
  const { code, message, details, traits } = own;
  return { status: traits.http, problem: { error: { code, message, details } } };
}

/** Restores the error of an error response with its code, message and details. */
export function fromAdminProblem(problem: unknown): Error {
  const error = isJsonObject(problem) ? problem['error'] : undefined;
  if (isJsonObject(error)) {
    const { code, message, details, rpc } = error;
    if (isJsonObject(rpc) && typeof rpc['code'] === 'number' && typeof rpc['message'] === 'string') {
      return new RpcError({ ...rpc, code: rpc['code'], message: rpc['message'] });
    }
    if (isErrorCode(code) && typeof message === 'string') {
      return new GatewayError(code, message, { details: isJsonObject(details) ? details : {} });
    }
  }
  return new GatewayError(
    'INVARIANT',
    'The gateway sent an error response that this version of trunkline does not understand.',
  );
}
