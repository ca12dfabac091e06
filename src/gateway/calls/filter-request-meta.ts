import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { matchesGlob } from '../../core/lib/matches-glob.ts';

/** Keys of the trace context, which MCP defines without a prefix. */
const TRACE_KEYS: ReadonlySet<string> = new Set(['traceparent', 'tracestate', 'baggage']);
/** Prefixes that MCP reserves for itself, such as `io.modelcontextprotocol/`. */
const RESERVED_PREFIX = /^(?:[\w-]+\.)*(?:modelcontextprotocol|mcp)(?:\.[\w-]+)*\//;

/**
 * Removes the keys of `_meta` that neither MCP defines nor `allowed` matches. Clients send private data there, such as the ids of their
 * session and model, which are not meant for each of the servers behind the gateway.
 */
export function filterRequestMeta(params: JsonObject, allowed: readonly string[]): JsonObject {
  const meta = params['_meta'];
  if (!isJsonObject(meta)) return params;
  const isPassed = (key: string): boolean =>
    TRACE_KEYS.has(key) || RESERVED_PREFIX.test(key) || allowed.some((glob) => matchesGlob(key, glob));
  const passed = Object.entries(meta).filter(([key]) => isPassed(key));
  if (passed.length === Object.keys(meta).length) return params;
  const { _meta: _, ...rest } = params;
  return passed.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(passed) };
}
