import type { Cancellation } from '../core/lib/cancellation.ts';
import type { Payload } from '../core/lib/payload.ts';
import { GatewayError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { OversizedResults } from './results/oversized-results.ts';
import { parseSelect, selectFromResult } from './select-result.ts';
import type { SelectDeps } from './select-result.ts';
import {
  parseMetaArguments,
  createTextResult,
  invalidArgumentsError,
  refuseUnknownParameters,
} from './meta-arguments.ts';

interface ReadOptions {
  readonly results: OversizedResults;
  /** Evaluates `select`; absent if there is no sandbox. */
  readonly select?: SelectDeps | undefined;
  /** The id of the caller that the result belongs to. */
  readonly owner: string;
  readonly cancellation: Cancellation;
}

/** Answers `read_result` with a page of a truncated result, or with the matches of a search in it. */
export async function answerReadResult(rawArguments: unknown, options: ReadOptions): Promise<Payload> {
  const args = parseMetaArguments(rawArguments);
  refuseUnknownParameters(args, 'read_result', ['id', 'offset', 'limit', 'find', 'select']);
  const { id, find } = args;
  const expression = parseSelect(args['select']);
  if (typeof id !== 'string') throw invalidArgumentsError('id must be an id that an earlier result names');
  if (find !== undefined && find !== null && typeof find !== 'string')
    throw invalidArgumentsError('find must be a text, or a regular expression such as "/a+b/i"');
  const request = {
    id,
    offset: parseWholeNumber(args, 'offset', 0) ?? 0,
    limit: parseWholeNumber(args, 'limit', 1),
    find: typeof find === 'string' && find !== '' ? find : undefined,
  };
  const { results, owner, cancellation, select } = options;
  try {
    if (expression !== undefined && select !== undefined) {
      if (request.find !== undefined || request.offset > 0)
        throw invalidArgumentsError('select reads the whole result: leave out find and offset');
      const payload = await results.find(owner, id);
      const tool = 'read_result';
      const selection = { expression, tool, owner, results, cancellation, storedId: id };
      return await results.truncate(owner, await selectFromResult(payload, selection, select));
    }
    return await results.read(owner, request, cancellation);
  } catch (error) {
    // The model chose the id, so it must receive this error as a tool result, which it can read.
    if (error instanceof GatewayError && error.code === 'ENTRY_NOT_FOUND')
      return createTextResult(error.message, error.code);
    throw error;
  }
}

function parseWholeNumber(args: JsonObject, name: string, minimum: number): number | undefined {
  const value = args[name];
  if (value === undefined || value === null) return undefined;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < minimum)
    throw invalidArgumentsError(`${name} must be a whole number from ${minimum}`);
  return number;
}
