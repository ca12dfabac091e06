import type { Readable } from 'node:stream';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import { LEGACY_VERSIONS, META } from '../wire/era.ts';
import { firstMessage } from '../wire/stdio/first-message.ts';

/** Who is at our standard input, in its own words. */
export interface WrapClient extends JsonObject {
  readonly info?: JsonObject;
  readonly capabilities?: JsonObject;
  /** The version that a client of the older protocol opens with. */
  readonly protocol?: string;
}

/** Reads how the client begins, so that its server can be told who it is before anything was answered. */
export async function readClient(
  from: Readable,
): Promise<{ readonly client: WrapClient; readonly stdin: Readable }> {
  const { message, stdin } = await firstMessage(from);
  const params = message?.kind === 'request' ? (message.params ?? {}) : {};
  if (message?.kind === 'request' && message.method === 'initialize') {
    const { clientInfo, capabilities, protocolVersion } = params;
    const isKnown = typeof protocolVersion === 'string' && LEGACY_VERSIONS.includes(protocolVersion);
    return {
      stdin,
      client: { ...told(clientInfo, capabilities), ...(isKnown && { protocol: protocolVersion }) },
    };
  }
  const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
  return { stdin, client: told(meta[META.clientInfo], meta[META.clientCapabilities]) };
}

function told(info: unknown, capabilities: unknown): WrapClient {
  return {
    ...(isJsonObject(info) && { info }),
    ...(isJsonObject(capabilities) && { capabilities }),
  };
}
