import { Cancellation } from '../../src/core/lib/cancellation.ts';
import { deferred } from '../../src/core/lib/deferred.ts';
import type { RpcErrorBody } from '../../src/core/errors.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { ClientChannel, IncomingRequest } from '../../src/protocol/client-connection.ts';

/** A notification as a client receives it. */
export type ReceivedNotification = readonly [method: string, params: JsonObject | undefined];

/** A client whose connection consists of function calls. */
export class MemoryClient implements ClientChannel {
  /** Notifications that belong to no request. */
  readonly notifications: ReceivedNotification[] = [];
  #nextId = 1;

  notify(method: string, params: JsonObject | undefined): void {
    this.notifications.push([method, params]);
  }

  request(method: string, params?: JsonObject): MemoryRequest {
    return new MemoryRequest(this.#nextId++, method, params);
  }
}

/** A request with its answer, notifications and requests from the other side. */
export class MemoryRequest implements IncomingRequest {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly cancellation = new Cancellation();
  readonly canSendRequests = true;
  readonly notifications: ReceivedNotification[] = [];
  readonly requests: (readonly [id: string | number, ...ReceivedNotification])[] = [];
  readonly #answer = deferred<JsonObject>();
  answers = 0;

  constructor(id: number, method: string, params: JsonObject | undefined) {
    this.id = id;
    this.method = method;
    this.params = params;
  }

  /** `{ result }` or `{ error }`. */
  get answer(): Promise<JsonObject> {
    return this.#answer.promise;
  }

  sendResult(payload: { readonly text: string }): void {
    this.answers++;
    this.#answer.resolve({ result: JSON.parse(payload.text) as unknown });
  }

  sendError(error: RpcErrorBody): void {
    this.answers++;
    this.#answer.resolve({ error });
  }

  notify(method: string, params: JsonObject | undefined): void {
    this.notifications.push([method, params]);
  }

  sendRequest(id: string | number, method: string, params: JsonObject | undefined): void {
    this.requests.push([id, method, params]);
  }
}
