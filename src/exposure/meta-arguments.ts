import { parseExact } from '../lib/exact-json.ts';
import { Payload } from '../lib/payload.ts';
import { GatewayError } from '../model/errors.ts';
import type { ErrorCode } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';

/** Models encode arguments once too often; twice is what has been seen. */
const MAX_ENCODINGS = 2;

/** An object, also where it was given as JSON; none is an empty one, and undefined is what cannot be read. */
export function asObject(given: unknown): JsonObject | undefined {
  let value = given;
  for (let round = 0; round < MAX_ENCODINGS && typeof value === 'string'; round += 1) {
    if (value.trim() === '') return {};
    try {
      value = parseExact(value);
    } catch {
      return undefined;
    }
  }
  if (value === undefined || value === null) return {};
  return isJsonObject(value) ? value : undefined;
}

export function metaArguments(given: unknown): JsonObject {
  const args = asObject(given);
  if (args === undefined) throw wrong('arguments must be an object');
  return args;
}

export function wrong(what: string): GatewayError {
  return new GatewayError('ARGUMENTS_INVALID', `${what}.`);
}

/** With a code, it is an error of ours. */
export function textResult(text: string, code?: ErrorCode): Payload {
  const error = code === undefined ? {} : { isError: true, _meta: { 'trunkline/code': code } };
  return Payload.of({ content: [{ type: 'text', text }], ...error });
}

export function didYouMean(near: readonly string[]): string {
  return near.length === 0 ? '' : ` Did you mean ${near.map((name) => `"${name}"`).join(', ')}?`;
}
