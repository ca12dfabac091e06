import { randomInt } from 'node:crypto';
import type { Cancellation } from '../../core/lib/cancellation.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { RPC_ERROR_CODES } from '../../protocol/era.ts';
import type { RpcMessage, RequestId } from '../../protocol/rpc-message.ts';
import type { IncomingRequest } from '../../protocol/client-connection.ts';

/** A request of a server that the client must answer, such as `elicitation/create`. */
export interface ServerQuestion {
  readonly method: string;
  readonly params: JsonObject | undefined;
}

type ClientResponse = Extract<RpcMessage, { kind: 'result' | 'error' }>;

interface OpenQuestion {
  readonly onResponse: (response: ClientResponse) => void;
  readonly giveUp: (reason: Error) => void;
}

/**
 * Asks one legacy client the questions of servers. A question is sent on the stream of the call that it belongs to, and the client
 * responds with a separate message.
 */
export class ClientQuestions {
  readonly #open = new Map<RequestId, OpenQuestion>();
  readonly #replica: string | undefined;
  /** Starts at random, so that a late response to a question of the previous process matches no question of this process. */
  #nextId = randomInt(1, 2 ** 40);

  /** `replica` is given if responses may arrive at another replica. The ids contain it, so that responses can be forwarded here. */
  constructor(replica?: string) {
    this.#replica = replica;
  }

  ask(
    request: Pick<IncomingRequest, 'canSendRequests' | 'sendRequest' | 'notify' | 'cancellation'>,
    question: ServerQuestion,
    options: {
      readonly capabilities: JsonObject;
      readonly cancellation: Cancellation;
      /** Whether the client uses a single server, which may send requests with methods that the gateway does not know. */
      readonly isSingleServer?: boolean | undefined;
    },
  ): Promise<JsonObject> {
    if (!canAnswer(question, options.capabilities, options.isSingleServer) || !request.canSendRequests) {
      const message = `The client does not support ${requiredCapability(question).join('.')}.`;
      throw new RpcError({ code: RPC_ERROR_CODES.methodNotFound, message });
    }
    const number = this.#nextId++;
    const id = this.#replica === undefined ? number : `${this.#replica}.${number}`;
    return new Promise<JsonObject>((resolve, reject) => {
      const cancellations = [options.cancellation, request.cancellation];
      const giveUp = (reason: Error): void => {
        if (!this.#open.delete(id)) return;
        for (const cancellation of cancellations) cancellation.offCancel(giveUp);
        request.notify('notifications/cancelled', { requestId: id, reason: reason.message });
        reject(new RpcError({ code: RPC_ERROR_CODES.internalError, message: reason.message }));
      };
      const onResponse = (response: ClientResponse): void => {
        this.#open.delete(id);
        for (const cancellation of cancellations) cancellation.offCancel(giveUp);
        if (response.kind === 'error') return reject(new RpcError(response.error));
        const { value } = response.payload;
        if (isJsonObject(value)) return resolve(value);
        const message = `The client answered ${question.method} with something other than an object.`;
        reject(new RpcError({ code: RPC_ERROR_CODES.internalError, message }));
      };
      this.#open.set(id, { onResponse, giveUp });
      request.sendRequest(id, question.method, question.params);
      for (const cancellation of cancellations) cancellation.onCancel(giveUp);
    });
  }

  response(response: ClientResponse): void {
    if (response.id !== null) this.#open.get(response.id)?.onResponse(response);
  }

  close(): void {
    if (this.#open.size === 0) return;
    const reason = new GatewayError('CALL_CANCELLED', 'The client disconnected.');
    for (const { giveUp } of [...this.#open.values()]) giveUp(reason);
  }
}

/** The capability that a client must declare to receive a question, by the method of the question. */
const REQUIRED_CAPABILITIES: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** Returns the capability that the client needs to answer the question, and the required part of that capability, if any. */
export function requiredCapability({ method, params }: ServerQuestion): readonly [string, string?] {
  const name = REQUIRED_CAPABILITIES[method] ?? method;
  if (name === 'elicitation' && params?.['mode'] === 'url') return [name, 'url'];
  return name === 'sampling' && params?.['tools'] !== undefined ? [name, 'tools'] : [name];
}

export function canAnswer(
  question: ServerQuestion,
  capabilities: JsonObject,
  isSingleServer = false,
): boolean {
  // A method that the gateway does not know is passed only to the client of a single server, which can reject it.
  if (REQUIRED_CAPABILITIES[question.method] === undefined) return isSingleServer;
  const [name, part] = requiredCapability(question);
  const declared = capabilities[name];
  if (!isJsonObject(declared)) return false;
  if (part !== undefined) return isJsonObject(declared[part]);
  // Older clients declare `elicitation: {}`, which means forms.
  return name !== 'elicitation' || 'form' in declared || !('url' in declared);
}
