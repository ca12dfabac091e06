import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import { META_KEYS, MODERN_VERSION } from './era.ts';

/** The keys of `_meta` that concern one connection and are not passed on. */
const HOP_KEYS: ReadonlySet<string> = new Set([...Object.values(META_KEYS), 'progressToken']);

/** Adds the `_meta` keys of a modern request: protocol version, client and capabilities. They concern one connection only. */
export function withEnvelope(
  params: JsonObject | undefined,
  client: {
    readonly info: JsonObject;
    readonly capabilities: JsonObject;
    readonly logLevel?: string | undefined;
  },
): JsonObject {
  const meta = params?.['_meta'];
  return {
    ...params,
    _meta: {
      ...(isJsonObject(meta) ? meta : {}),
      [META_KEYS.protocolVersion]: MODERN_VERSION,
      [META_KEYS.clientInfo]: client.info,
      [META_KEYS.clientCapabilities]: client.capabilities,
      [META_KEYS.logLevel]: client.logLevel,
    },
  };
}

/** Returns the description of the client in the `_meta` of a modern request. */
export function readEnvelope(params: JsonObject): {
  readonly info: JsonObject | undefined;
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
} {
  const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
  const {
    [META_KEYS.clientInfo]: info,
    [META_KEYS.clientCapabilities]: capabilities,
    [META_KEYS.logLevel]: level,
  } = meta;
  return {
    info: isJsonObject(info) ? info : undefined,
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    logLevel: typeof level === 'string' ? level : undefined,
  };
}

/** Returns the name of the client of a modern request. */
export function readClientName(params: JsonObject | undefined): string | undefined {
  const meta = params?.['_meta'];
  return clientInfoName(isJsonObject(meta) ? meta[META_KEYS.clientInfo] : undefined);
}

/** Returns the name in a `clientInfo` object. */
export function clientInfoName(info: unknown): string | undefined {
  return isJsonObject(info) && typeof info['name'] === 'string' ? info['name'] : undefined;
}

/** Removes the keys of `_meta` that concern one connection; trace context and vendor keys stay. */
export function withoutEnvelope(params: JsonObject): JsonObject {
  const meta = params['_meta'];
  if (!isJsonObject(meta)) return params;
  const passedOn = Object.entries(meta).filter(([key]) => !HOP_KEYS.has(key));
  if (passedOn.length === Object.keys(meta).length) return params;
  const { _meta: _, ...rest } = params;
  return passedOn.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(passedOn) };
}
