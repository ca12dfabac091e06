import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import { META, MODERN_VERSION } from './era.ts';

const HOP_KEYS: ReadonlySet<string> = new Set([...Object.values(META), 'progressToken']);

/** `_meta` of a modern request says who asks and what they can do; it belongs to one hop. */
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
      [META.protocolVersion]: MODERN_VERSION,
      [META.clientInfo]: client.info,
      [META.clientCapabilities]: client.capabilities,
      ...(client.logLevel === undefined ? {} : { [META.logLevel]: client.logLevel }),
    },
  };
}

/** What a modern request says of its client. */
export function envelopeOf(params: JsonObject): {
  readonly info: JsonObject | undefined;
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
} {
  const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
  const { [META.clientInfo]: info, [META.clientCapabilities]: capabilities, [META.logLevel]: level } = meta;
  return {
    info: isJsonObject(info) ? info : undefined,
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    logLevel: typeof level === 'string' ? level : undefined,
  };
}

/** What the client of a modern request calls itself. */
export function clientNameOf(params: JsonObject | undefined): string | undefined {
  const meta = params?.['_meta'];
  return nameOf(isJsonObject(meta) ? meta[META.clientInfo] : undefined);
}

/** Of a `clientInfo`, wherever it stands. */
export function nameOf(info: unknown): string | undefined {
  return isJsonObject(info) && typeof info['name'] === 'string' ? info['name'] : undefined;
}

/** Params without what concerned only the hop they came over; traces and vendors' keys stay. */
export function withoutEnvelope(params: JsonObject): JsonObject {
  const meta = params['_meta'];
  if (!isJsonObject(meta)) return params;
  const kept = Object.entries(meta).filter(([key]) => !HOP_KEYS.has(key));
  if (kept.length === Object.keys(meta).length) return params;
  const { _meta: _, ...rest } = params;
  return kept.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(kept) };
}
