import type { IncomingHttpHeaders } from 'node:http';

import { Cancellation } from '../../lib/cancellation.ts';
import { NOWHERE } from '../../lib/crowd.ts';
import type { Member } from '../../lib/crowd.ts';
import type { Payload } from '../../lib/payload.ts';
import type { GatewayError, RpcErrorBody } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import { errorText, notificationText, requestText, writtenResult } from '../message.ts';
import type { Message, RequestId, Written } from '../message.ts';
import type { IncomingRequest } from '../serving.ts';

/** Where the messages about one request go. */
export interface ReplyPath {
  /** Whether the client takes anything but the answer. */
  readonly canNotify: boolean;
  notify(text: string): void;
  answer(message: Written, status: number): void;
  /** The client withdrew the request; the protocol wants no answer. */
  withdraw(id: RequestId): void;
}

export interface RequestOwner {
  readonly headers?: IncomingHttpHeaders;
  /** The HTTP status that goes with an error. */
  statusOf(error: RpcErrorBody): number;
  /** Called once, before the answer is written; `result` is there when it succeeded. */
  settled(request: PostedRequest, result: Payload | undefined): void;
  /** A listener of the cancellation threw. */
  failed(error: unknown): void;
}

/** A request that came in a POST; answered once, whoever answers and however often. */
export class PostedRequest implements IncomingRequest, Member {
  place = NOWHERE;
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly cancellation = new Cancellation();
  readonly #path: ReplyPath;
  readonly #owner: RequestOwner;
  #isSettled = false;

  constructor(message: Extract<Message, { kind: 'request' }>, path: ReplyPath, owner: RequestOwner) {
    this.id = message.id;
    this.method = message.method;
    this.params = message.params;
    this.#path = path;
    this.#owner = owner;
  }

  result(payload: Payload): void {
    if (this.#isSettled) return;
    const written = writtenResult(this.id, payload); // May throw; the request can then still be answered with an error.
    this.#settle(payload);
    this.#path.answer(written, 200);
  }

  error(error: RpcErrorBody): void {
    if (this.#isSettled) return;
    const text = errorText(this.id, error);
    this.#settle(undefined);
    this.#path.answer(text, this.#owner.statusOf(error));
  }

  notify(method: string, params: JsonObject | undefined): void {
    if (!this.#isSettled) this.#path.notify(notificationText(method, params));
  }

  get headers(): IncomingHttpHeaders | undefined {
    return this.#owner.headers;
  }

  get canAsk(): boolean {
    return this.#path.canNotify;
  }

  ask(id: RequestId, method: string, params: JsonObject | undefined): void {
    if (!this.#isSettled) this.#path.notify(requestText(id, method, params));
  }

  /** The client said that it no longer wants the answer. */
  withdraw(reason: GatewayError): void {
    if (this.#isSettled) return;
    this.#settle(undefined);
    this.#cancel(reason);
    this.#path.withdraw(this.id);
  }

  /** The client can no longer be reached. */
  abandon(reason: GatewayError): void {
    if (this.#isSettled) return;
    this.#settle(undefined);
    this.#cancel(reason);
  }

  /** We end it and say so; whoever is working on it may say it better first. */
  end(reason: GatewayError): void {
    if (this.#isSettled) return;
    this.#cancel(reason);
    this.error({ code: reason.traits.rpc, message: reason.message });
  }

  #settle(result: Payload | undefined): void {
    this.#isSettled = true;
    this.#owner.settled(this, result);
  }

  #cancel(reason: GatewayError): void {
    try {
      this.cancellation.cancel(reason);
    } catch (error) {
      this.#owner.failed(error);
    }
  }
}
