import { isJsonObject } from './json.ts';
import type { JsonObject } from './json.ts';
import { Payload } from './lib/payload.ts';

/** Members of `_meta` with which the gateway marks its own errors and truncated results. Clients may rely on them. */
const GATEWAY_MARKS: readonly string[] = ['trunkline/code', 'trunkline/result'];

/** Removes the marks of the gateway from a result of a server, which must not pass for one of the gateway. */
export function removeGatewayMarks(payload: Payload): Payload {
  return isJsonObject(payload.outline) && hasMark(payload.outline['_meta'])
    ? Payload.of(withoutGatewayMarks(payload.value as JsonObject)) // It is an object, as `outline` shows.
    : payload;
}

/** Returns the result without the marks of the gateway, or the same object if it has none. */
export function withoutGatewayMarks(result: JsonObject): JsonObject {
  const { _meta: meta, ...rest } = result;
  if (!hasMark(meta)) return result;
  const members = Object.entries(meta).filter(([name]) => !GATEWAY_MARKS.includes(name));
  return members.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(members) };
}

function hasMark(meta: unknown): meta is JsonObject {
  return isJsonObject(meta) && GATEWAY_MARKS.some((name) => Object.hasOwn(meta, name));
}
