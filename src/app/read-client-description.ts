import type { Readable } from 'node:stream';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import { LEGACY_VERSIONS, META_KEYS } from '../protocol/era.ts';
import { readFirstMessage } from '../protocol/stdio/first-message.ts';

/** The description of the client at standard input, from its `initialize` request or from the metadata of its first request. */
export interface StdioClientDescription extends JsonObject {
  readonly info?: JsonObject | undefined;
  readonly capabilities?: JsonObject | undefined;
  /** The protocol version that a legacy client requested. */
  readonly protocol?: string | undefined;
}

/**
 * Reads the first message of the client, so that the wrapped server can receive the identity of the client. The returned `stdin` still
 * contains this message.
 */
export async function readClientDescription(
  from: Readable,
): Promise<{ readonly client: StdioClientDescription; readonly stdin: Readable }> {
  const { message, stdin } = await readFirstMessage(from);
  const params = message?.kind === 'request' ? (message.params ?? {}) : {};
  if (message?.kind === 'request' && message.method === 'initialize') {
    const { clientInfo, capabilities, protocolVersion } = params;
    const isKnown = typeof protocolVersion === 'string' && LEGACY_VERSIONS.includes(protocolVersion);
    return {
      stdin,
      client: {
        ...describeClient(clientInfo, capabilities),
        protocol: isKnown ? protocolVersion : undefined,
      },
    };
  }
  const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
  return { stdin, client: describeClient(meta[META_KEYS.clientInfo], meta[META_KEYS.clientCapabilities]) };
}

function describeClient(info: unknown, capabilities: unknown): StdioClientDescription {
  return {
    info: isJsonObject(info) ? info : undefined,
    capabilities: isJsonObject(capabilities) ? capabilities : undefined,
  };
}
