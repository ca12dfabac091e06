import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cancellation } from '../../core/lib/cancellation.ts';
import type { Payload } from '../../core/lib/payload.ts';
import type { RequestingClient } from '../../core/requesting-client.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

const MAX_ROUNDS = 10;
/** The pause before a server that asked no question is called again, multiplied by the number of the round. */
const PAUSE_MS = 250;

/**
 * Asks a legacy client the questions that a modern server returned instead of a result, and repeats the request with the answers until
 * the server returns a result.
 */
export async function askUntilComplete(
  first: Payload,
  options: {
    readonly params: JsonObject;
    readonly requestingClient: RequestingClient;
    readonly cancellation: Cancellation;
    readonly repeat: (params: JsonObject) => Promise<Payload>;
  },
): Promise<Payload> {
  let payload = first;
  for (let round = 1; isInputRequired(payload); round++) {
    if (round > MAX_ROUNDS) throw declined(`The server asked in more than ${MAX_ROUNDS} rounds.`);
    const { inputRequests, requestState } = payload.value as JsonObject; // It is an object, since it has a result type.
    const questions = isJsonObject(inputRequests) ? Object.entries(inputRequests) : [];
    if (questions.length === 0) await delay(PAUSE_MS * round);
    const answers = await Promise.all(
      questions.map(async ([key, question]) => [key, await ask(question, options)] as const),
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

async function ask(
  question: unknown,
  {
    requestingClient,
    cancellation,
  }: { readonly requestingClient: RequestingClient; readonly cancellation: Cancellation },
): Promise<JsonObject> {
  const { method, params } = isJsonObject(question) ? question : {};
  if (typeof method !== 'string') throw declined('The question has no method.');
  try {
    return await requestingClient.ask(method, toLegacyParams(params), cancellation);
  } catch (error) {
    if (error instanceof RpcError) throw declined(error.message);
    throw error;
  }
}

/** Adds the `elicitationId` that legacy clients need for a page, since modern servers no longer send one. */
function toLegacyParams(params: unknown): JsonObject | undefined {
  if (!isJsonObject(params)) return undefined;
  return params['mode'] === 'url' && params['elicitationId'] === undefined
    ? { ...params, elicitationId: randomUUID() }
    : params;
}

function declined(reason: string): GatewayError {
  return new GatewayError(
    'QUESTION_DECLINED',
    `The client did not answer a question of the server: ${reason}`,
  );
}
