import { Cancellation } from '../../src/lib/cancellation.ts';
import { deferred } from '../../src/lib/deferred.ts';
import type { RpcErrorBody } from '../../src/model/errors.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { ClientChannel, IncomingRequest } from '../../src/wire/serving.ts';

/** A notification as a client hears it. */
export type Told = readonly [method: string, params: JsonObject | undefined];

/** A client at the other end of a connection that is nothing but function calls. */
export class MemoryClient implements ClientChannel {
  /** What came outside of any request. */
  readonly told: Told[] = [];
  #nextId = 1;

  notify(method: string, params: JsonObject | undefined): void {
    this.told.push([method, params]);
  }

  request(method: string, params?: JsonObject): MemoryRequest {
    return new MemoryRequest(this.#nextId++, method, params);
  }
}

/** One request with everything that was said to it. */
export class MemoryRequest implements IncomingRequest {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly cancellation = new Cancellation();
  readonly canAsk = true;
  readonly told: Told[] = [];
  readonly asked: (readonly [id: string | number, ...Told])[] = [];
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

  result(payload: { readonly text: string }): void {
    this.answers++;
    this.#answer.resolve({ result: JSON.parse(payload.text) as unknown });
  }

  error(error: RpcErrorBody): void {
    this.answers++;
    this.#answer.resolve({ error });
  }

  notify(method: string, params: JsonObject | undefined): void {
    this.told.push([method, params]);
  }

  ask(id: string | number, method: string, params: JsonObject | undefined): void {
    this.asked.push([id, method, params]);
  }
}
