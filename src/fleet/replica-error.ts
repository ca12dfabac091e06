import { GatewayError, isErrorCode, RpcError } from '../core/errors.ts';
import type { RpcErrorBody } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';

/** Serializes an error for another replica. Errors of the gateway and errors of a server or client remain distinguishable. */
export function serializeReplicaError(error: unknown): JsonObject {
  if (error instanceof RpcError) return { rpc: { ...error.body } };
  if (error instanceof GatewayError) {
    const { code, message, details } = error;
    return { code, message, details };
  }
  return { code: 'INVARIANT', message: 'The other gateway failed. Its log contains the reason.' };
}

/** Returns the error that `serializeReplicaError` serialized, or an INVARIANT error if the value is something else. */
export function parseReplicaError(value: unknown): GatewayError | RpcError {
  if (isJsonObject(value)) {
    const { rpc, code, message, details } = value;
    if (isJsonObject(rpc) && typeof rpc['code'] === 'number' && typeof rpc['message'] === 'string')
      return new RpcError(rpc as JsonObject & RpcErrorBody); // The line above checks the members.
    if (isErrorCode(code) && typeof message === 'string')
      return new GatewayError(code, message, { details: isJsonObject(details) ? details : {} });
  }
  return new GatewayError('INVARIANT', 'Another gateway failed without giving a reason.');
}
