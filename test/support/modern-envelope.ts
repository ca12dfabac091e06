import type { JsonObject } from './raw-messages.ts';

const metaPrefix = 'io.modelcontextprotocol/';
const named = new Set(['tools/call', 'prompts/get', 'resources/read']);

interface Identity {
  readonly version?: string;
  readonly capabilities?: JsonObject;
  readonly clientInfo?: JsonObject;
}

const modernVersion = '2026-07-28';
export const rawClientInfo = { name: 'raw', version: '1.0.0' };

/** Adds the metadata that every modern request must have; `meta` overrides it, so that a test can make it invalid. */
export function withEnvelope(params: JsonObject, identity: Identity, meta: JsonObject = {}): JsonObject {
  const { version = modernVersion, capabilities = {}, clientInfo = rawClientInfo } = identity;
  const envelope = {
    [`${metaPrefix}protocolVersion`]: version,
    [`${metaPrefix}clientCapabilities`]: capabilities,
    [`${metaPrefix}clientInfo`]: clientInfo,
  };
  return { ...params, _meta: { ...envelope, ...meta } };
}

export function withMeta(params: JsonObject, meta: JsonObject | undefined): JsonObject {
  return meta === undefined ? params : { ...params, _meta: meta };
}

/** The headers that mirror the body of a modern POST. */
export function modernHeaders(
  method: string,
  params: JsonObject,
  version = modernVersion,
): Record<string, string> {
  const name = params['name'] ?? params['uri'];
  return {
    'mcp-protocol-version': version,
    ...(method !== '' && { 'mcp-method': method }),
    ...(named.has(method) && typeof name === 'string' && { 'mcp-name': headerValue(name) }),
  };
}

function headerValue(value: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?');
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}
