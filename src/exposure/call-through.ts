import type { CallRequest } from '../gateway/calls/call-request.ts';
import type { Payload } from '../lib/payload.ts';
import type { ToolEntry } from '../model/entry.ts';
import { GatewayError } from '../model/errors.ts';
import type { Tier } from '../model/tier.ts';
import type { ExposureContext } from './exposure.ts';
import { asObject, metaArguments, textResult, wrong } from './meta-arguments.ts';
import { callToolFor, TIERS } from './meta-tools.ts';

interface CallOptions {
  readonly request: CallRequest;
  readonly context: ExposureContext;
  /** The highest tier that may be called. */
  readonly atMost: Tier;
}

/** A call of the tool that the arguments name; its result passes as it came. */
export async function callThrough(through: string, given: unknown, options: CallOptions): Promise<Payload> {
  const { request, context, atMost } = options;
  const { name, arguments: inner, timeoutMs } = metaArguments(given);
  if (typeof name !== 'string') throw wrong('name must be the name of a tool, as search_tools shows it');
  const args = asObject(inner);
  if (args === undefined)
    throw wrong(`arguments must be an object with the arguments of ${name.slice(0, 200)}`);
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0))
    throw wrong('timeoutMs must be a positive number of milliseconds');
  const check = (entry: ToolEntry): void => {
    const tier = context.view.tier(entry);
    if (TIERS.indexOf(tier) > TIERS.indexOf(atMost)) throw refusal(through, entry, tier);
  };
  try {
    return await context.call(name, {
      ...request,
      params: { ...request.params, name, arguments: args },
      check,
      checksArguments: true,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  } catch (error) {
    // The name was an argument, so that it is the model who must read this.
    if (error instanceof GatewayError && error.code === 'ENTRY_NOT_FOUND') {
      return textResult(`${error.message} search_tools finds tools.`, error.code);
    }
    throw error;
  }
}

function refusal(through: string, { name }: ToolEntry, tier: Tier): GatewayError {
  const text = `${name} is marked [${tier}] and was not called; ${through} does not call such tools, ${callToolFor(tier)} does.`;
  return new GatewayError('WRONG_TIER', text, { details: { tier } });
}
