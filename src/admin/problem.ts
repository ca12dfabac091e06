import { errorTable, GatewayError, RpcError } from '../model/errors.ts';
import type { ErrorCode } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { AdminProblem } from './contract/contract.ts';

/** An error as the API writes it, with the HTTP status that goes with it. */
export function problemOf(error: unknown): { readonly status: number; readonly problem: AdminProblem } {
  if (error instanceof RpcError) return { status: 502, problem: { error: { rpc: error.body } } };
  // Of what is no error of ours nothing is told: it may hold anything.
  const own = error instanceof GatewayError ? error : new GatewayError('INVARIANT', 'Internal error.');
  const { code, message, details, traits } = own;
  return { status: traits.http, problem: { error: { code, message, details } } };
}

/** The error that an answer of the API stands for, with code, message and details intact. */
export function errorOf(problem: unknown): Error {
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
  return new GatewayError('INVARIANT', 'The gateway gave an answer that this program does not understand.');
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorTable, code);
}
