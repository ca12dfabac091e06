import { RpcError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import { LEGACY_VERSIONS, META, MODERN_VERSION, RPC } from '../wire/era.ts';
import { invalidParams } from './to-wire.ts';

/** Every modern request says which version it speaks and what its client can do; throws for one that does not. */
export function checkEnvelope(params: JsonObject): void {
  const meta = params['_meta'];
  const version = isJsonObject(meta) ? meta[META.protocolVersion] : undefined;
  if (!isJsonObject(meta) || typeof version !== 'string')
    throw invalidParams(`_meta must have ${META.protocolVersion}.`);
  if (version !== MODERN_VERSION) {
    const data = { supported: [MODERN_VERSION, ...LEGACY_VERSIONS.toReversed()], requested: version };
    const message = `Unsupported protocol version: ${version}`;
    throw new RpcError({ code: RPC.unsupportedVersion, message, data });
  }
  if (!isJsonObject(meta[META.clientCapabilities]))
    throw invalidParams(`_meta must have ${META.clientCapabilities}.`);
}
