import { callerKey } from '../core/caller.ts';
import type { Payload } from '../core/lib/payload.ts';
import { GatewayError } from '../core/errors.ts';
import type { OversizedResults } from './results/oversized-results.ts';
import type { ExposureContext } from './exposure.ts';
import { createTextResult } from './meta-arguments.ts';
import { READ_RESULT_TOOL } from './meta-tools.ts';

interface ToolCall {
  readonly name: string;
  readonly isMetaTool: boolean;
  readonly context: ExposureContext;
}

/** Runs a call; if its result is too long for a model, stores the result and returns a preview. */
export async function truncateResult(
  results: OversizedResults | undefined,
  toolCall: ToolCall,
  run: () => Promise<Payload>,
): Promise<Payload> {
  if (results === undefined || !canTruncate(toolCall)) return run();
  const owner = callerKey(toolCall.context.caller);
  try {
    return await results.truncate(owner, await run());
  } catch (error) {
    if (!(error instanceof GatewayError) || !error.traits.isShownToModel) throw error;
    // An error message can be long, too, for example if it quotes a schema.
    const errorResult = createTextResult(error.message, error.code);
    const truncated = await results.truncate(owner, errorResult);
    if (truncated === errorResult) throw error;
    return truncated;
  }
}

/**
 * Returns false for `read_result`, whose pages already fit, and for tools with an output schema. A client
 * that knows the schema rejects a truncated result.
 */
function canTruncate({ name, isMetaTool, context }: ToolCall): boolean {
  if (isMetaTool) return name !== READ_RESULT_TOOL['name'];
  return context.view.tool(name)?.definition['outputSchema'] === undefined;
}
