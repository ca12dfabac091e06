import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import type { Era } from '../core/server-facts.ts';

/** Protocol versions that start a session with `initialize`, oldest first. */
export const LEGACY_VERSIONS: readonly string[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
export const NEWEST_LEGACY_VERSION = '2025-11-25';
/** The first protocol version without sessions: every request carries its own metadata. */
export const MODERN_VERSION = '2026-07-28';

/** Reserved keys of `_meta`. */
export const META_KEYS = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;

/** JSON-RPC error codes, including those of MCP. */
export const RPC_ERROR_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedVersion: -32022,
  /** Added in 2025-11-25: a person must open a web page before the request can succeed. */
  urlElicitationRequired: -32042,
} as const;

/** Returns the era of a request. A modern request names its protocol version or calls `server/discover`, which the legacy era lacks. */
export function detectEra(method: string, params: JsonObject | undefined): Era {
  if (method === 'server/discover') return 'modern';
  const meta = params?.['_meta'];
  return isJsonObject(meta) && META_KEYS.protocolVersion in meta ? 'modern' : 'legacy';
}
