import { randomUUID } from 'node:crypto';
import type { Cancellation } from '../lib/cancellation.ts';
import type { Payload } from '../lib/payload.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';

const MAX_ROUNDS = 10;
const PAUSE_MS = 250;

/**
 * A modern server answers with questions instead of asking them. They are put to a client that knows only the older way, and
 * the request is made again with the answers, until there is a result.
 */
export async function questionRounds(
  first: Payload,
  options: {
    readonly params: JsonObject;
    readonly behind: ClientBehind;
    readonly cancellation: Cancellation;
    readonly repeat: (params: JsonObject) => Promise<Payload>;
  },
): Promise<Payload> {
  let payload = first;
  for (let round = 1; isInputRequired(payload); round++) {
    if (round > MAX_ROUNDS) throw declined('The server asks again and again.');
    const { inputRequests, requestState } = payload.value as JsonObject; // It is an object: it has a result type.
    const questions = isJsonObject(inputRequests) ? Object.entries(inputRequests) : [];
    if (questions.length === 0) await pause(PAUSE_MS * round);
    const answers = await Promise.all(
      questions.map(async ([key, question]) => [key, await put(question, options)] as const),
    );
    options.cancellation.throwIfCancelled();
    payload = await options.repeat({
      ...options.params,
      inputResponses: Object.fromEntries(answers),
      ...(requestState === undefined ? {} : { requestState }),
    });
  }
  return payload;
}

export function isInputRequired(payload: Payload): boolean {
  return isJsonObject(payload.outline) && payload.outline['resultType'] === 'input_required';
}

async function put(
  question: unknown,
  { behind, cancellation }: { readonly behind: ClientBehind; readonly cancellation: Cancellation },
): Promise<JsonObject> {
  const { method, params } = isJsonObject(question) ? question : {};
  if (typeof method !== 'string') throw declined('The server asks a question without a method.');
  try {
    return await behind.ask(method, forOlderClient(params), cancellation);
  } catch (error) {
    if (error instanceof RpcError) throw declined(error.message);
    throw error;
  }
}

/** The older way to show a page wants an id for it, which the newer one no longer has. */
function forOlderClient(params: unknown): JsonObject | undefined {
  if (!isJsonObject(params)) return undefined;
  return params['mode'] === 'url' && params['elicitationId'] === undefined
    ? { ...params, elicitationId: randomUUID() }
    : params;
}

function declined(reason: string): GatewayError {
  return new GatewayError('QUESTION_DECLINED', `The server asked something that was not answered: ${reason}`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
