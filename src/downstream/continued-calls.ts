import { randomUUID } from 'node:crypto';

import { Cancellation } from '../lib/cancellation.ts';
import { parseExact, stringifyExact } from '../lib/exact-json.ts';
import { Payload } from '../lib/payload.ts';
import { GatewayError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { IncomingRequest } from '../wire/serving.ts';
import type { By } from './parked-calls.ts';
import { namedIn } from './sessions/between/others.ts';
import type { Others } from './sessions/between/others.ts';

/** Takes up a call that is parked here. */
type TakeUp = (request: IncomingRequest, by: By) => Promise<Payload>;

const PATIENCE_MS = 5000;

/** Calls that are parked at one gateway and continued by a request that came to another one. */
export class ContinuedCalls implements Disposable {
  readonly #others: Others;
  readonly #asking = new Map<string, IncomingRequest>();
  readonly #answering: readonly Disposable[];

  constructor(others: Others, takeUp: TakeUp) {
    this.#others = others;
    this.#answering = [
      others.answer('parked.continue', (body, asked) => this.#continue(takeUp, body, asked)),
      others.answer('parked.notify', async (body) => {
        const { relay, method, params } = body;
        const told = typeof relay === 'string' ? this.#asking.get(relay) : undefined;
        if (typeof method === 'string') told?.notify(method, paramsOf(params));
        return {};
      }),
    ];
  }

  /** What the state of a parked call begins with, so that whoever gets it knows whom to ask. */
  get name(): string {
    return `${this.#others.self}.`;
  }

  /** Another gateway that the call is parked at; undefined for our own. */
  ownerOf(state: string): string | undefined {
    const owner = namedIn(state);
    return owner === this.#others.self ? undefined : owner;
  }

  async continue(owner: string, request: IncomingRequest, by: By): Promise<Payload> {
    const relay = randomUUID();
    this.#asking.set(relay, request);
    const { id, method, params, cancellation } = request;
    const body = { by, id, method, params: stringifyExact(params ?? {}), relay };
    try {
      const options = { signal: cancellation.signal, timeoutMs: 0 };
      const { text } = await this.#others.ask(owner, 'parked.continue', body, options);
      return Payload.ofText(typeof text === 'string' ? text : '{}');
    } catch (error) {
      throw error instanceof GatewayError && error.code === 'REPLICA_AWAY' ? gone(error) : error;
    } finally {
      this.#asking.delete(relay);
    }
  }

  [Symbol.dispose](): void {
    for (const answering of this.#answering) answering[Symbol.dispose]();
  }

  async #continue(
    takeUp: TakeUp,
    body: JsonObject,
    { from, signal }: { readonly from: string; readonly signal: AbortSignal },
  ): Promise<JsonObject> {
    const { id, method, params, relay, by } = body;
    if (typeof method !== 'string' || (typeof id !== 'string' && typeof id !== 'number') || !isBy(by))
      throw new GatewayError(
        'INVARIANT',
        'Another gateway asked for a call in a way that is not understood.',
      );
    const cancellation = new Cancellation();
    const stop = (): void =>
      cancellation.cancel(new GatewayError('CALL_CANCELLED', 'The client no longer waits for the answer.'));
    signal.addEventListener('abort', stop, { once: true });
    let told: Promise<unknown> = Promise.resolve();
    const notify: IncomingRequest['notify'] = (about, what) => {
      const news = { relay, method: about, ...(what && { params: stringifyExact(what) }) };
      const ask = (): Promise<unknown> =>
        this.#others.ask(from, 'parked.notify', news, { timeoutMs: PATIENCE_MS }).catch(() => {}); // Nobody listens any more.
      told = told.then(ask);
    };
    const nothing = (): void => {};
    const request: IncomingRequest = {
      ...{ id, method, params: paramsOf(params), cancellation, notify, canAsk: true },
      ...{ result: nothing, error: nothing, ask: nothing },
    };
    try {
      const { text } = await takeUp(request, by);
      return { text };
    } finally {
      signal.removeEventListener('abort', stop);
      // What was said meanwhile comes before the answer.
      await told;
    }
  }
}

function gone(cause: GatewayError): GatewayError {
  const text =
    'The gateway that this call waited at is gone, and the call with it. Whether it was done is not known; make it again without requestState.';
  return new GatewayError('REPLICA_AWAY', text, { cause });
}

function paramsOf(text: unknown): JsonObject | undefined {
  const value: unknown = typeof text === 'string' ? parseExact(text) : undefined;
  return isJsonObject(value) ? value : undefined;
}

function isBy(value: unknown): value is By {
  if (!isJsonObject(value)) return false;
  const { caller, place, capabilities } = value;
  return typeof caller === 'string' && typeof place === 'string' && isJsonObject(capabilities);
}
