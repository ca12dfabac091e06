import { errorTable, GatewayError, RpcError } from '../model/errors.ts';
import type { ErrorCode, RpcErrorBody } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';

/** An error on its way to another replica: what is ours stays ours, what a server or client said stays theirs. */
export function problemOf(error: unknown): JsonObject {
  if (error instanceof RpcError) return { rpc: { ...error.body } };
  if (error instanceof GatewayError) {
    const { code, message, details } = error;
    return { code, message, details };
  }
  return { code: 'INVARIANT', message: 'The other gateway failed; its log says why.' };
}

export function errorOf(problem: unknown): GatewayError | RpcError {
  if (isJsonObject(problem)) {
    const { rpc, code, message, details } = problem;
    if (isJsonObject(rpc) && typeof rpc['code'] === 'number' && typeof rpc['message'] === 'string')
      return new RpcError(rpc as JsonObject & RpcErrorBody); // Just checked.
    if (isCode(code) && typeof message === 'string')
      return new GatewayError(code, message, { details: isJsonObject(details) ? details : {} });
  }
  return new GatewayError('INVARIANT', 'Another gateway failed without saying why.');
}

function isCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorTable, code);
}
