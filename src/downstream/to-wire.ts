import { Payload } from '../lib/payload.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import type { RpcErrorBody } from '../model/errors.ts';
import type { Era } from '../model/server-facts.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import { RPC } from '../wire/era.ts';

/** What a model can act on becomes a result that it reads; undefined where only a JSON-RPC error will do. */
export function toToolResult(error: unknown): Payload | undefined {
  if (!(error instanceof GatewayError) || !error.traits.toModel) return undefined;
  return Payload.of({
    content: [{ type: 'text', text: error.message }],
    isError: true,
    _meta: { 'trunkline/code': error.code },
  });
}

export function invalidParams(message: string): RpcError {
  return new RpcError({ code: RPC.invalidParams, message });
}

export function toRpcError(error: unknown, era: Era): RpcErrorBody {
  if (error instanceof RpcError) return forEra(error.body, era);
  if (!(error instanceof GatewayError)) {
    return { code: RPC.internalError, message: 'Internal error.', data: { code: 'INVARIANT' } };
  }
  const { kind, uri } = error.details;
  const isMissingResource = error.code === 'ENTRY_NOT_FOUND' && kind === 'resource';
  const code = isMissingResource ? RPC.resourceNotFound : error.traits.rpc;
  return forEra(
    { code, message: error.message, data: { code: error.code, ...(isMissingResource ? { uri } : {}) } },
    era,
  );
}

/** The newest revision gave up the code of its own for a missing resource. */
function forEra(body: RpcErrorBody, era: Era): RpcErrorBody {
  return era === 'modern' && body.code === RPC.resourceNotFound ? { ...body, code: RPC.invalidParams } : body;
}

/** A result in the words of the client's era. What fits already goes on as the text it came as. */
export function resultForEra(
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
        'The server asks a question that cannot be passed to this client yet.',
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
  // Policy may differ next time, so nothing is marked as cacheable, whatever the server said.
  const value = payload.value as object; // It is what `outline` shows, with exact numbers.
  return Payload.of({ resultType: 'complete', ...value, ttlMs: 0, cacheScope: 'private' });
}

/** Whether it has a member that only the newest revision knows. */
function isModern(outline: JsonObject): boolean {
  return 'resultType' in outline || 'ttlMs' in outline || 'cacheScope' in outline;
}

const COMPLETE = '"resultType":"complete"';
const CACHEABLE = `${COMPLETE},"ttlMs":0,"cacheScope":"private"`;
