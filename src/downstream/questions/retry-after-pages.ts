import type { Cancellation } from '../../core/lib/cancellation.ts';
import type { Payload } from '../../core/lib/payload.ts';
import type { RequestingClient } from '../../core/requesting-client.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { RPC_ERROR_CODES } from '../../protocol/era.ts';

const MAX_ROUNDS = 10;
const MAX_PAGES = 20;

interface PageOptions {
  readonly requestingClient: RequestingClient;
  readonly cancellation: Cancellation;
}

/**
 * Makes a call. A legacy server may reject it until the user has visited certain web pages. Modern clients do not know that error, so
 * this function asks the client to show the pages and then repeats the call, which the server has not executed yet.
 */
export function retryAfterPages(call: () => Promise<Payload>, options: PageOptions): Promise<Payload> {
  return call().catch((error: unknown) => showPagesAndRetry(call, error, options));
}

async function showPagesAndRetry(
  call: () => Promise<Payload>,
  firstError: unknown,
  { requestingClient, cancellation }: PageOptions,
): Promise<Payload> {
  let error = firstError;
  for (let round = 1; ; round++) {
    const pages = requiredPages(error);
    if (pages.length === 0) throw error;
    if (round > MAX_ROUNDS)
      throw declined(`The server required pages to be visited in more than ${MAX_ROUNDS} rounds.`, error);
    // The rejected call has ended, so a client that leaves now must not detach the connection to the server.
    requestingClient.onRequestEnd = undefined;
    const answers = await Promise.all(
      pages.map((page) => requestingClient.ask('elicitation/create', page, cancellation)),
    );
    cancellation.throwIfCancelled();
    if (answers.some(({ action }) => action !== 'accept'))
      throw declined('The server requires a page to be visited first, and the user declined.', error);
    try {
      return await call();
    } catch (repeatedError) {
      error = repeatedError;
    }
  }
}

function requiredPages(error: unknown): readonly JsonObject[] {
  if (!(error instanceof RpcError) || error.body.code !== RPC_ERROR_CODES.urlElicitationRequired) return [];
  const { data } = error.body;
  const pages = isJsonObject(data) ? data['elicitations'] : undefined;
  return Array.isArray(pages) ? pages.filter(isJsonObject).slice(0, MAX_PAGES) : [];
}

function declined(message: string, cause: unknown): GatewayError {
  return new GatewayError('QUESTION_DECLINED', message, { cause });
}
