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
  readonly #open = new Map<number, Open>();
  #nextId = 1;

  /** The way to the client while it waits for the answer to this request. */
  during(request: IncomingRequest): Asker {
    return new AskerDuring(this, request);
  }

  ask(
    request: IncomingRequest,
    question: { readonly method: string; readonly params: JsonObject | undefined },
    options: { readonly capabilities: JsonObject; readonly cancellation: Cancellation },
  ): Promise<JsonObject> {
    const { method, params } = question;
    if (!canAnswer(method, options.capabilities) || !request.canAsk) {
      const message = `The client does not support ${neededFor(method)}.`;
      throw new RpcError({ code: RPC.methodNotFound, message });
    }
    const id = this.#nextId++;
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
    if (typeof answer.id === 'number') this.#open.get(answer.id)?.answered(answer);
  }

  close(): void {
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

  notify(method: string, params: JsonObject): void {
    this.#request.notify(method, params);
  }
}

/** The capability without which a client must not be asked this. */
export function neededFor(method: string): string {
  return NEEDED[method] ?? method;
}

export function canAnswer(method: string, capabilities: JsonObject): boolean {
  const needed = NEEDED[method];
  return needed !== undefined && isJsonObject(capabilities[needed]);
}
