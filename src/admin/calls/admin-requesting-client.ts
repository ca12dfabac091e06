import { randomUUID } from 'node:crypto';
import { Cancellation } from '../../core/lib/cancellation.ts';
import type { Payload } from '../../core/lib/payload.ts';
import type { RequestingClient, CallDeadline } from '../../core/requesting-client.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { isLevelEnabled } from '../../core/log-level.ts';

/** Receives the notifications and questions of a running call. */
export interface CallCallbacks {
  readonly onProgress?: ((progress: JsonObject) => void) | undefined;
  readonly onLog?: ((message: JsonObject) => void) | undefined;
  /** Shows a form of the server to the person at the client. Undefined if the client is not interactive. */
  readonly onQuestion?: ((params: JsonObject, cancellation: Cancellation) => Promise<JsonObject>) | undefined;
}

/** Acts as the MCP client of an upstream server for one request to the admin API. */
export class AdminRequestingClient implements RequestingClient {
  readonly session = `admin:${randomUUID()}`;
  readonly cancellation = new Cancellation();
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
  deadline: CallDeadline | undefined = undefined;
  readonly #callbacks: CallCallbacks;

  constructor(callbacks: CallCallbacks, logLevel: string | undefined) {
    this.#callbacks = callbacks;
    this.capabilities = callbacks.onQuestion === undefined ? {} : { elicitation: { form: {} } };
    this.logLevel = logLevel;
  }

  async ask(method: string, params: JsonObject | undefined, cancellation: Cancellation): Promise<JsonObject> {
    if (method === 'roots/list') return { roots: [] };
    const { onQuestion } = this.#callbacks;
    if (method === 'elicitation/create' && params?.['mode'] !== 'url' && onQuestion !== undefined) {
      // While a person answers, only the maximum duration of a call applies.
      this.deadline?.setQuestionOpen(true);
      try {
        return await onQuestion(params ?? {}, cancellation);
      } finally {
        this.deadline?.setQuestionOpen(false);
      }
    }
    // Method not found is the response of a client that did not declare the capability.
    throw new RpcError({ code: -32601, message: questionDeclined().message });
  }

  log(params: JsonObject): void {
    if (isLevelEnabled(params['level'], this.logLevel)) this.#callbacks.onLog?.(params);
  }
}

/** Maximum number of times that a request is repeated with answers. */
const MAX_ROUNDS = 10;

/**
 * Answers the questions in an `input_required` result and repeats the request with the answers until the result is final. Servers of
 * protocol revision 2026-07-28 return such results.
 */
export async function answerInputRequests(
  firstResult: Payload,
  client: AdminRequestingClient,
  repeat: (answers: JsonObject) => Promise<Payload>,
): Promise<Payload> {
  let payload = firstResult;
  for (let round = 0; isInputRequired(payload); round++) {
    if (round >= MAX_ROUNDS) throw questionDeclined();
    const { inputRequests, requestState } = payload.value as JsonObject; // A result with a type is an object.
    const inputResponses: Record<string, JsonObject> = {};
    // The questions are asked one after the other, because one person answers them.
    for (const [key, question] of Object.entries(isJsonObject(inputRequests) ? inputRequests : {}))
      inputResponses[key] = await answerQuestion(question, client);
    payload = await repeat({ inputResponses, requestState });
  }
  return payload;
}

function isInputRequired({ outline }: Payload): boolean {
  return isJsonObject(outline) && outline['resultType'] === 'input_required';
}

async function answerQuestion(question: unknown, client: AdminRequestingClient): Promise<JsonObject> {
  const { method, params } = isJsonObject(question) ? question : {};
  try {
    return await client.ask(String(method), isJsonObject(params) ? params : {}, client.cancellation);
  } catch (error) {
    if (error instanceof RpcError) throw questionDeclined();
    throw error;
  }
}

function questionDeclined(): GatewayError {
  return new GatewayError(
    'QUESTION_DECLINED',
    'The server asked a question that cannot be answered here. Call the tool from an MCP client instead.',
  );
}
