import { parseExact } from '../core/lib/exact-json.ts';
import { Payload } from '../core/lib/payload.ts';
import { GatewayError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';

/** Some models encode the arguments as JSON again; up to two extra encodings were observed. */
const MAX_ENCODINGS = 2;

/** Returns an object, decoding it if it is JSON text. A missing value becomes an empty object, an invalid one undefined. */
export function parseObject(raw: unknown): JsonObject | undefined {
  let value = raw;
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

export function parseMetaArguments(raw: unknown): JsonObject {
  const args = parseObject(raw);
  if (args === undefined) throw invalidArgumentsError('arguments must be an object');
  return args;
}

export function invalidArgumentsError(problem: string): GatewayError {
  return new GatewayError('ARGUMENTS_INVALID', `${problem}.`);
}

/** Returns a result with one text; with a code, it is an error of the gateway. */
export function createTextResult(text: string, code?: ErrorCode): Payload {
  const error = code === undefined ? {} : { isError: true, _meta: { 'trunkline/code': code } };
  return Payload.of({ content: [{ type: 'text', text }], ...error });
}

export function formatSuggestions(names: readonly string[]): string {
  return names.length === 0 ? '' : ` Did you mean ${names.map((name) => `"${name}"`).join(', ')}?`;
}
