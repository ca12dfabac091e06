import { Payload } from '../core/lib/payload.ts';
import { GatewayError, isErrorCode, RpcError } from '../core/errors.ts';
import type { RpcErrorBody } from '../core/errors.ts';
import type { Era } from '../core/server-facts.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import { RPC_ERROR_CODES } from '../protocol/era.ts';

const COMPLETE = '"resultType":"complete"';
const CACHEABLE = `${COMPLETE},"ttlMs":0,"cacheScope":"private"`;

/** Converts a result to the format of the client's era. A result that already has this format keeps its original text. */
export function encodeResultForEra(
  payload: Payload,
  era: Era,
  options: { readonly isCacheable: boolean },
): Payload {
  const { outline } = payload;
  if (!isJsonObject(outline)) return payload;
  if (era === 'legacy') {
    if (!isModern(outline)) return payload;
    if (outline['resultType'] === 'input_required') {
      throw new GatewayError(
        'QUESTION_DECLINED',
        'The server asks a question in a way that this client does not support.',
      );
    }
    const {
      resultType: _,
      ttlMs: _ttl,
      cacheScope: _scope,
      ...rest
    } = payload.value as Record<string, unknown>;
    return Payload.of(rest);
  }
  if (!options.isCacheable) return 'resultType' in outline ? payload : payload.withMembers(COMPLETE);
  if (!isModern(outline)) return payload.withMembers(CACHEABLE);
  // Replaces the caching fields of the server: the policy may change before the next request, so no result may be cached.
  const value = payload.value as object; // `outline` shows that it is an object; `value` has exact numbers.
  return Payload.of({ resultType: 'complete', ...value, ttlMs: 0, cacheScope: 'private' });
}

/** Whether the result has a field that only the modern era knows. */
function isModern(outline: JsonObject): boolean {
  return 'resultType' in outline || 'ttlMs' in outline || 'cacheScope' in outline;
}

/** Converts an error to a tool result if a model can react to it. Returns undefined for other errors. */
export function encodeToolError(error: unknown): Payload | undefined {
  if (!(error instanceof GatewayError) || !error.traits.isShownToModel) return undefined;
  return Payload.of({
    content: [{ type: 'text', text: error.message }],
    isError: true,
    _meta: { 'trunkline/code': error.code },
  });
}

export function encodeErrorForEra(error: unknown, era: Era): RpcErrorBody {
  if (error instanceof RpcError) return withEraCode(withoutGatewayCode(error.body), era);
  if (!(error instanceof GatewayError)) {
    return { code: RPC_ERROR_CODES.internalError, message: 'Internal error.', data: { code: 'INVARIANT' } };
  }
  const { kind, uri } = error.details;
  const isMissingResource = error.code === 'ENTRY_NOT_FOUND' && kind === 'resource';
  const code = isMissingResource ? RPC_ERROR_CODES.resourceNotFound : error.traits.rpc;
  return withEraCode(
    { code, message: error.message, data: { code: error.code, uri: isMissingResource ? uri : undefined } },
    era,
  );
}

/** Removes a code of the gateway from the error of a server, which must not pass for an error of the gateway. */
function withoutGatewayCode(body: RpcErrorBody): RpcErrorBody {
  if (!isJsonObject(body.data) || !isErrorCode(body.data['code'])) return body;
  const { code: _, ...data } = body.data;
  return { ...body, data };
}

/** Replaces the code for a missing resource, which the modern era no longer has. */
function withEraCode(body: RpcErrorBody, era: Era): RpcErrorBody {
  return era === 'modern' && body.code === RPC_ERROR_CODES.resourceNotFound
    ? { ...body, code: RPC_ERROR_CODES.invalidParams }
    : body;
}

export function invalidParamsError(message: string): RpcError {
  return new RpcError({ code: RPC_ERROR_CODES.invalidParams, message });
}

/** Returns a parameter that must be a string. */
export function requireStringParam(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== 'string') throw invalidParamsError(`${name} must be a string.`);
  return value;
}
