import { parseExact } from '../core/lib/exact-json.ts';
import { Payload } from '../core/lib/payload.ts';
import { findSimilar } from '../core/lib/find-similar.ts';
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

/** Wrong names that models use for parameters, each with the parameters that it can mean. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  q: ['query'],
  search: ['query', 'find'],
  text: ['query', 'find'],
  pattern: ['find'],
  regex: ['find'],
  grep: ['find'],
  tool: ['name', 'names'],
  toolName: ['name'],
  tool_name: ['name'],
  tools: ['names'],
  args: ['arguments'],
  params: ['arguments'],
  parameters: ['arguments'],
  input: ['arguments'],
  fields: ['select'],
  filter: ['select', 'server'],
  expression: ['select'],
  page: ['offset'],
  max: ['limit'],
  count: ['limit'],
};

/** Rejects parameters that a meta tool does not have. If they were ignored, a model would assume that they took effect. */
export function refuseUnknownParameters(args: JsonObject, tool: string, known: readonly string[]): void {
  for (const key in args) {
    if (known.includes(key)) continue;
    const meant = (Object.hasOwn(SYNONYMS, key) ? SYNONYMS[key] : undefined)?.find((name) =>
      known.includes(name),
    );
    const [similar] = meant === undefined ? findSimilar(key.slice(0, 60), known, 1) : [meant];
    const hint = similar === undefined ? '' : ` Did you mean "${similar}"?`;
    throw invalidArgumentsError(
      `${tool} has no parameter ${JSON.stringify(key.slice(0, 60))}, and nothing was done.${hint} It takes ${known.join(', ')}`,
    );
  }
}

export function invalidArgumentsError(problem: string): GatewayError {
  return new GatewayError('ARGUMENTS_INVALID', `${problem}.`);
}

/** Returns a result with one text; with a code, it is an error of the gateway. */
export function createTextResult(text: string, code?: ErrorCode): Payload {
  const content = [{ type: 'text', text }];
  if (code === undefined) return Payload.of({ content });
  return Payload.of({ content, isError: true, _meta: { 'trunkline/code': code } });
}

export function formatSuggestions(names: readonly string[]): string {
  return names.length === 0 ? '' : ` Did you mean ${names.map((name) => `"${name}"`).join(', ')}?`;
}
