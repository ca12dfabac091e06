import { gatewayErrorCode } from '../../support/client-helpers.ts';
import { HttpError } from '../../support/raw-transports.ts';
import { type JsonObject, RpcError, type ToolResult } from '../../support/raw-messages.ts';

/** How a request ended, in a form that can be counted. `lost` means no answer; the rest of the text gives the reason. */
export type Outcome = string;

export function outcomeOfResult(result: ToolResult): Outcome {
  if (result.isError !== true) return 'ok';
  const code = gatewayErrorCode(result);
  return typeof code === 'string' ? code : 'tool error';
}

export function outcomeOfError(error: unknown): Outcome {
  if (error instanceof RpcError && error.status !== 503) {
    const code = (error.data as JsonObject | undefined)?.['code'];
    return typeof code === 'string' ? code : `RPC ${error.code}`;
  }
  // Sent before the request was read, and therefore without its id, but an answer nevertheless.
  if ((error instanceof HttpError || error instanceof RpcError) && error.status === 503)
    return 'SHUTTING_DOWN';
  const message = error instanceof Error ? error.message : String(error);
  if (message.startsWith('No answer to')) return 'unanswered';
  return message.endsWith('was cancelled.') ? 'cancelled' : `lost: ${message.slice(0, 120)}`;
}
