import type { Cancellation } from '../lib/cancellation.ts';
import type { Payload } from '../lib/payload.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import { RPC } from '../wire/era.ts';

const MAX_ROUNDS = 10;
const MAX_PAGES = 20;

/**
 * An older server refuses a call until pages were visited, and expects it anew afterwards. Clients that do not know this error are
 * asked to show the pages instead, and the call, which the server has not carried out, is made again once they agreed.
 */
export function pagesFirst(call: () => Promise<Payload>, by: By): Promise<Payload> {
  return call().catch((error: unknown) => afterPages(call, error, by));
}

interface By {
  readonly behind: ClientBehind;
  readonly cancellation: Cancellation;
}

async function afterPages(call: () => Promise<Payload>, refused: unknown, by: By): Promise<Payload> {
  const { behind, cancellation } = by;
  let error = refused;
  for (let round = 1; ; round++) {
    const pages = pagesOf(error);
    if (pages.length === 0) throw error;
    if (round > MAX_ROUNDS) throw declined('The server wants pages to be visited again and again.', error);
    // The call is over: its client leaves nothing behind at the server.
    behind.onLeft = undefined;
    const answers = await Promise.all(
      pages.map((page) => behind.ask('elicitation/create', page, cancellation)),
    );
    cancellation.throwIfCancelled();
    if (answers.some(({ action }) => action !== 'accept'))
      throw declined('The server wants a page to be visited first, which was not agreed to.', error);
    try {
      return await call();
    } catch (again) {
      error = again;
    }
  }
}

function pagesOf(error: unknown): readonly JsonObject[] {
  if (!(error instanceof RpcError) || error.body.code !== RPC.pagesRequired) return [];
  const { data } = error.body;
  const pages = isJsonObject(data) ? data['elicitations'] : undefined;
  return Array.isArray(pages) ? pages.filter(isJsonObject).slice(0, MAX_PAGES) : [];
}

function declined(message: string, cause: unknown): GatewayError {
  return new GatewayError('QUESTION_DECLINED', message, { cause });
}
