import type { Payload } from '../../lib/payload.ts';
import { RpcError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { CallerBehind } from './caller-behind.ts';

const MAX_ROUNDS = 10;

/** Servers of the newest revision answer with their questions; the request is made again with what was said to them. */
export async function answeredQuestions(
  first: Payload,
  behind: CallerBehind,
  repeat: (more: JsonObject) => Promise<Payload>,
): Promise<Payload> {
  let payload = first;
  for (
    let round = 0;
    isJsonObject(payload.outline) && payload.outline['resultType'] === 'input_required';
    round++
  ) {
    if (round >= MAX_ROUNDS) throw behind.cannotBeAsked();
    const { inputRequests, requestState } = payload.value as JsonObject; // It is an object: it has a result type.
    const answers: Record<string, JsonObject> = {};
    // One after the other, since it is one person.
    for (const [key, question] of Object.entries(isJsonObject(inputRequests) ? inputRequests : {}))
      answers[key] = await answerTo(question, behind);
    payload = await repeat({ inputResponses: answers, ...(requestState !== undefined && { requestState }) });
  }
  return payload;
}

async function answerTo(question: unknown, behind: CallerBehind): Promise<JsonObject> {
  const { method, params } = isJsonObject(question) ? question : {};
  try {
    return await behind.ask(String(method), isJsonObject(params) ? params : {}, behind.cancellation);
  } catch (error) {
    if (error instanceof RpcError) throw behind.cannotBeAsked();
    throw error;
  }
}
