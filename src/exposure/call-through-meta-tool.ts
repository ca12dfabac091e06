import type { CallRequest } from '../gateway/calls/call-request.ts';
import type { Payload } from '../core/lib/payload.ts';
import type { ToolEntry } from '../core/entry.ts';
import { GatewayError } from '../core/errors.ts';
import type { Tier } from '../core/tier.ts';
import type { ExposureContext } from './exposure.ts';
import {
  parseObject,
  parseMetaArguments,
  createTextResult,
  invalidArgumentsError,
} from './meta-arguments.ts';
import { callToolFor, TIERS } from './meta-tools.ts';

interface CallOptions {
  readonly request: CallRequest;
  readonly context: ExposureContext;
  /** The highest tier that may be called. */
  readonly maxTier: Tier;
}

/** Calls the tool whose name is in the arguments of a meta tool. Returns its result unchanged. */
export async function callThroughMetaTool(
  metaTool: string,
  metaArguments: unknown,
  options: CallOptions,
): Promise<Payload> {
  const { request, context, maxTier } = options;
  const { name, arguments: toolArguments, timeoutMs } = parseMetaArguments(metaArguments);
  if (typeof name !== 'string')
    throw invalidArgumentsError('name must be the name of a tool, as search_tools shows it');
  const args = parseObject(toolArguments);
  if (args === undefined)
    throw invalidArgumentsError(`arguments must be an object with the arguments of ${name.slice(0, 200)}`);
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0))
    throw invalidArgumentsError('timeoutMs must be a positive number of milliseconds');
  const check = (entry: ToolEntry): void => {
    const tier = context.view.tier(entry);
    if (TIERS.indexOf(tier) > TIERS.indexOf(maxTier)) throw wrongTier(metaTool, entry, tier);
  };
  try {
    return await context.call(name, {
      ...request,
      params: { ...request.params, name, arguments: args },
      check,
      shouldValidateArguments: true,
      timeoutMs: timeoutMs ?? request.timeoutMs,
    });
  } catch (error) {
    // The model chose the name, so it must receive this error as a tool result, which it can read.
    if (error instanceof GatewayError && error.code === 'ENTRY_NOT_FOUND') {
      return createTextResult(`${error.message} search_tools finds tools.`, error.code);
    }
    throw error;
  }
}

function wrongTier(metaTool: string, { name }: ToolEntry, tier: Tier): GatewayError {
  const text = `${name} is marked [${tier}] and was not called; ${metaTool} does not call such tools, ${callToolFor(tier)} does.`;
  return new GatewayError('WRONG_TIER', text, { details: { tier } });
}
