import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import { META, MODERN_VERSION } from './era.ts';

const HOP_KEYS: ReadonlySet<string> = new Set([...Object.values(META), 'progressToken']);

/** `_meta` of a modern request says who asks and what they can do; it belongs to one hop. */
export function withEnvelope(
  params: JsonObject | undefined,
  client: { readonly info: JsonObject; readonly capabilities: JsonObject },
): JsonObject {
  const meta = params?.['_meta'];
  return {
    ...params,
    _meta: {
      ...(isJsonObject(meta) ? meta : {}),
      [META.protocolVersion]: MODERN_VERSION,
      [META.clientInfo]: client.info,
      [META.clientCapabilities]: client.capabilities,
    },
  };
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
