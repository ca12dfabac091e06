import type { CallRequest } from '../gateway/calls/call-request.ts';
import type { Payload } from '../core/lib/payload.ts';
import type { ToolEntry } from '../core/entry.ts';
import { callerKey } from '../core/caller.ts';
import { GatewayError } from '../core/errors.ts';
import type { Tier } from '../core/tier.ts';
import type { ExposureContext } from './exposure.ts';
import { parseMetaArguments, createTextResult, invalidArgumentsError } from './meta-arguments.ts';
import { readCallArguments } from './read-call-arguments.ts';
import { callToolFor, TIERS } from './meta-tools.ts';
import type { LearnedShapes } from './results/learned-shapes.ts';
import type { OversizedResults } from './results/oversized-results.ts';
import { parseSelect, selectFromResult } from './select-result.ts';
import type { SelectDeps } from './select-result.ts';

interface CallOptions {
  readonly request: CallRequest;
  readonly context: ExposureContext;
  /** Evaluates `select`; absent if there is no sandbox. */
  readonly select?: SelectDeps | undefined;
  readonly results?: OversizedResults | undefined;
  readonly shapes?: LearnedShapes | undefined;
  /** Called with the name of a tool that was called. */
  readonly onCall?: ((name: string) => void) | undefined;
  /** The highest tier that may be called. */
  readonly maxTier: Tier;
}

/** Calls the tool whose name is in the arguments of a meta tool. Returns its result, or the part that `select` selects. */
export async function callThroughMetaTool(
  metaTool: string,
  metaArguments: unknown,
  options: CallOptions,
): Promise<Payload> {
  const { request, context, maxTier, select, results, shapes } = options;
  const parsed = parseMetaArguments(metaArguments);
  const { name, timeoutMs } = parsed;
  const ownExpression = parseSelect(parsed['select']);
  let called: ToolEntry | undefined;
  if (typeof name !== 'string')
    throw invalidArgumentsError('name must be the name of a tool, as search_tools shows it');
  const schema = context.view.tool(name)?.definition['inputSchema'];
  const args = readCallArguments(parsed, metaTool, schema);
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0))
    throw invalidArgumentsError('timeoutMs must be a positive number of milliseconds');
  const check = (entry: ToolEntry): void => {
    called = entry;
    const tier = context.view.tier(entry);
    if (TIERS.indexOf(tier) > TIERS.indexOf(maxTier)) throw wrongTier(metaTool, entry, tier);
  };
  try {
    const payload = await context.call(name, {
      ...request,
      params: { ...request.params, name, arguments: args },
      check,
      shouldValidateArguments: true,
      timeoutMs: timeoutMs ?? request.timeoutMs,
    });
    options.onCall?.(name);
    shapes?.observe(called, payload);
    const expression = ownExpression ?? (called && context.view.configuredSelect(called));
    if (select === undefined || expression === undefined) return payload;
    const { cancellation } = request;
    const owner = callerKey(context.caller);
    return await selectFromResult(payload, { expression, tool: name, owner, results, cancellation }, select);
  } catch (error) {
    // The model chose the name, so it must receive this error as a tool result, which it can read.
    if (error instanceof GatewayError && error.code === 'ENTRY_NOT_FOUND') {
      return createTextResult(`${error.message} Find tools with search_tools.`, error.code);
    }
    throw error;
  }
}

/** Calls a tool that the client called by its own name. */
export async function callByName(
  name: string,
  request: CallRequest,
  { context, shapes }: Pick<CallOptions, 'context' | 'shapes'>,
): Promise<Payload> {
  const payload = await context.call(name, request);
  shapes?.observe(context.view.tool(name), payload);
  return payload;
}

function wrongTier(metaTool: string, { name }: ToolEntry, tier: Tier): GatewayError {
  const text = `${name} was not called, because it is marked [${tier}] and ${metaTool} does not call such tools. Use ${callToolFor(tier)}.`;
  return new GatewayError('WRONG_TIER', text, { details: { tier } });
}
