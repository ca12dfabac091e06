import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era } from '../model/server-facts.ts';

/** Revisions that open with `initialize`, oldest first. */
export const LEGACY_VERSIONS: readonly string[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
export const NEWEST_LEGACY = '2025-11-25';
/** The revision in which every request carries its own metadata. */
export const MODERN_VERSION = '2026-07-28';

/** Reserved keys of `_meta`. */
export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;

export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedVersion: -32022,
  /** Of 2025-11-25: pages have to be visited first. */
  pagesRequired: -32042,
} as const;

/** A request belongs to the modern era when it says its version itself, or asks what only modern servers know. */
export function eraOf(method: string, params: JsonObject | undefined): Era {
  if (method === 'server/discover') return 'modern';
  const meta = params?.['_meta'];
  return isJsonObject(meta) && META.protocolVersion in meta ? 'modern' : 'legacy';
}
