import type { Cancellation } from '../lib/cancellation.ts';
import type { Payload } from '../lib/payload.ts';
import { GatewayError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { Results } from '../results/results.ts';
import { metaArguments, textResult, wrong } from './meta-arguments.ts';

interface ReadOptions {
  readonly results: Results;
  /** The id of the caller. */
  readonly owner: string;
  readonly cancellation: Cancellation;
}

/** `read_result`: a page of a result that was too big, or what matches in it. */
export async function readAnswer(given: unknown, options: ReadOptions): Promise<Payload> {
  const args = metaArguments(given);
  const { id, find } = args;
  if (typeof id !== 'string') throw wrong('id must be the id of a result, as a cut result names it');
  if (find !== undefined && find !== null && typeof find !== 'string')
    throw wrong('find must be a text, or a regular expression such as "/a+b/i"');
  const limit = whole(args, 'limit', 1);
  const request = {
    id,
    offset: whole(args, 'offset', 0) ?? 0,
    ...(limit !== undefined && { limit }),
    ...(typeof find === 'string' && find !== '' && { find }),
  };
  try {
    return await options.results.read(options.owner, request, options.cancellation);
  } catch (error) {
    // The id was an argument, so that it is the model who must read this.
    if (error instanceof GatewayError && error.code === 'ENTRY_NOT_FOUND')
      return textResult(error.message, error.code);
    throw error;
  }
}

function whole(args: JsonObject, name: string, least: number): number | undefined {
  const given = args[name];
  if (given === undefined || given === null) return undefined;
  const number = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < least)
    throw wrong(`${name} must be a whole number from ${least}`);
  return number;
}
