import { randomInt } from 'node:crypto';
import type { Cancellation } from '../lib/cancellation.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { RpcErrorBody } from '../model/errors.ts';
import type { Payload } from '../lib/payload.ts';
import { RPC } from '../wire/era.ts';
import type { RequestId } from '../wire/message.ts';
import type { IncomingRequest } from '../wire/serving.ts';
import type { Asker } from './client-behind-request.ts';

type Answer =
  | { readonly kind: 'result'; readonly id: RequestId; readonly payload: Payload }
  | { readonly kind: 'error'; readonly id: RequestId | null; readonly error: RpcErrorBody };

interface Open {
  readonly answered: (answer: Answer) => void;
  readonly giveUp: (reason: Error) => void;
}

/** Which capability a client must have declared to be asked this. */
const NEEDED: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** Puts questions of servers to one client of an older revision, on the way of the call that they belong to. */
export class AskedClient {
  readonly #open = new Map<RequestId, Open>();
  readonly #by: string | undefined;
  /** From anywhere, so that a late answer to a question of a gateway that ended fits none of its successor's. */
  #next = randomInt(1, 2 ** 40);

  /** Where several gateways serve one client, its answer may come to another one than asks `by` this name. */
  constructor(by?: string) {
    this.#by = by;
  }

  /** The way to the client while it waits for the answer to this request. */
  during(request: IncomingRequest): Asker {
    return new AskerDuring(this, request);
  }

  ask(
    request: Pick<IncomingRequest, 'canAsk' | 'ask' | 'notify' | 'cancellation'>,
    question: Question,
    options: {
      readonly capabilities: JsonObject;
      readonly cancellation: Cancellation;
      readonly isAlone?: boolean | undefined;
    },
  ): Promise<JsonObject> {
    const { method, params } = question;
    if (!canAnswer(question, options.capabilities, options.isAlone) || !request.canAsk) {
      const message = `The client does not support ${neededFor(question).join('.')}.`;
      throw new RpcError({ code: RPC.methodNotFound, message });
    }
    const number = this.#next++;
    const id = this.#by === undefined ? number : `${this.#by}.${number}`;
    return new Promise<JsonObject>((resolve, reject) => {
      const cancellations = [options.cancellation, request.cancellation];
      const giveUp = (reason: Error): void => {
        if (!this.#open.delete(id)) return;
        for (const cancellation of cancellations) cancellation.offCancel(giveUp);
        request.notify('notifications/cancelled', { requestId: id, reason: reason.message });
        reject(new RpcError({ code: RPC.internalError, message: reason.message }));
      };
      const answered = (answer: Answer): void => {
        this.#open.delete(id);
        for (const cancellation of cancellations) cancellation.offCancel(giveUp);
        if (answer.kind === 'error') return reject(new RpcError(answer.error));
        const { value } = answer.payload;
        if (isJsonObject(value)) resolve(value);
        else reject(new RpcError({ code: RPC.internalError, message: 'The client gave no proper answer.' }));
      };
      this.#open.set(id, { answered, giveUp });
      request.ask(id, method, params);
      for (const cancellation of cancellations) cancellation.onCancel(giveUp);
    });
  }

  response(answer: Answer): void {
    if (answer.id !== null) this.#open.get(answer.id)?.answered(answer);
  }

  close(): void {
    if (this.#open.size === 0) return;
    const reason = new GatewayError('CALL_CANCELLED', 'The client went away.');
    for (const { giveUp } of [...this.#open.values()]) giveUp(reason);
  }
}

class AskerDuring implements Asker {
  readonly #client: AskedClient;
  readonly #request: IncomingRequest;

  constructor(client: AskedClient, request: IncomingRequest) {
    this.#client = client;
    this.#request = request;
  }

  async ask(...[method, params, about]: Parameters<Asker['ask']>): Promise<JsonObject> {
    return this.#client.ask(this.#request, { method, params }, about);
  }

  notify(method: string, params: JsonObject | undefined): void {
    this.#request.notify(method, params);
  }
}

interface Question {
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** The capability without which a client must not be asked this, and what of it. */
export function neededFor({ method, params }: Question): readonly [string, string?] {
  const name = NEEDED[method] ?? method;
  if (name === 'elicitation' && params?.['mode'] === 'url') return [name, 'url'];
  return name === 'sampling' && params?.['tools'] !== undefined ? [name, 'tools'] : [name];
}

/** Of what we do not know a client that faces one server alone can judge itself. */
export function canAnswer(question: Question, capabilities: JsonObject, isAlone = false): boolean {
  if (NEEDED[question.method] === undefined) return isAlone;
  const [name, part] = neededFor(question);
  const declared = capabilities[name];
  if (!isJsonObject(declared)) return false;
  if (part !== undefined) return isJsonObject(declared[part]);
  // Forms are what the capability was before it had parts.
  return name !== 'elicitation' || 'form' in declared || !('url' in declared);
}
