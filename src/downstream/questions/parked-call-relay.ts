import { randomUUID } from 'node:crypto';

import { Cancellation } from '../../core/lib/cancellation.ts';
import { parseExact, stringifyExact } from '../../core/lib/exact-json.ts';
import { Payload } from '../../core/lib/payload.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { IncomingRequest } from '../../protocol/client-connection.ts';
import type { CallOwner } from './parked-calls.ts';
import { readReplicaFromId } from '../../core/replica-bus.ts';
import type { ReplicaBus } from '../../core/replica-bus.ts';

/** Continues a call that is parked at this replica. */
type ContinueCall = (request: IncomingRequest, owner: CallOwner) => Promise<Payload>;

const NOTIFY_TIMEOUT_MS = 5000;

/** Forwards requests that continue a parked call to the replica that holds the call. */
export class ParkedCallRelay implements Disposable {
  readonly #replicas: ReplicaBus;
  /** Requests that arrived here and are answered by another replica, by relay id. */
  readonly #relayed = new Map<string, IncomingRequest>();
  readonly #handlers: readonly Disposable[];

  constructor(replicas: ReplicaBus, continueCall: ContinueCall) {
    this.#replicas = replicas;
    this.#handlers = [
      replicas.onRequest('parked.continue', (body, { from, signal }) =>
        this.#continueHere(continueCall, body, { from, signal }),
      ),
      replicas.onRequest('parked.notify', async ({ relay, method, params }) => {
        const request = typeof relay === 'string' ? this.#relayed.get(relay) : undefined;
        if (typeof method === 'string') request?.notify(method, parseParams(params));
        return {};
      }),
    ];
  }

  /** The beginning of a request state, which names the replica that holds the call. */
  get statePrefix(): string {
    return `${this.#replicas.self}.`;
  }

  /** Returns the other replica that holds the call, or undefined if this replica does. */
  replicaOf(state: string): string | undefined {
    const replica = readReplicaFromId(state);
    return replica === this.#replicas.self ? undefined : replica;
  }

  async continue(replica: string, request: IncomingRequest, owner: CallOwner): Promise<Payload> {
    const relay = randomUUID();
    this.#relayed.set(relay, request);
    const { id, method, params, cancellation } = request;
    const { caller, endpoint, capabilities } = owner;
    const by = { caller, place: endpoint, capabilities };
    const body = { by, id, method, params: stringifyExact(params ?? {}), relay };
    try {
      const options = { signal: cancellation.signal, timeoutMs: 0 };
      const { text } = await this.#replicas.request(replica, 'parked.continue', body, options);
      return Payload.ofText(typeof text === 'string' ? text : '{}');
    } catch (error) {
      throw error instanceof GatewayError && error.code === 'REPLICA_AWAY' ? lostCall(error) : error;
    } finally {
      this.#relayed.delete(relay);
    }
  }

  [Symbol.dispose](): void {
    for (const handler of this.#handlers) handler[Symbol.dispose]();
  }

  async #continueHere(
    continueCall: ContinueCall,
    body: JsonObject,
    { from, signal }: { readonly from: string; readonly signal: AbortSignal },
  ): Promise<JsonObject> {
    const { id, method, params, relay, by } = body;
    const owner = parseOwner(by);
    if (typeof method !== 'string' || (typeof id !== 'string' && typeof id !== 'number') || !owner)
      throw new GatewayError('INVARIANT', 'Another replica sent a malformed parked.continue message.');
    const cancellation = new Cancellation();
    const cancel = (): void =>
      cancellation.cancel(new GatewayError('CALL_CANCELLED', 'The client no longer waits for the response.'));
    signal.addEventListener('abort', cancel, { once: true });
    let notified: Promise<unknown> = Promise.resolve();
    const notify: IncomingRequest['notify'] = (name, values) => {
      const news = { relay, method: name, params: values && stringifyExact(values) };
      const send = (): Promise<unknown> =>
        // A failure is ignored, because it means that the client has disconnected.
        this.#replicas.request(from, 'parked.notify', news, { timeoutMs: NOTIFY_TIMEOUT_MS }).catch(() => {});
      notified = notified.then(send);
    };
    const ignore = (): void => {};
    try {
      const { text } = await continueCall(
        {
          id,
          method,
          params: parseParams(params),
          cancellation,
          notify,
          canSendRequests: true,
          sendResult: ignore,
          sendError: ignore,
          sendRequest: ignore,
        },
        owner,
      );
      return { text };
    } finally {
      signal.removeEventListener('abort', cancel);
      // The response must not overtake the notifications.
      await notified;
    }
  }
}

function lostCall(cause: GatewayError): GatewayError {
  const text =
    'The replica that held this call has stopped. It is unknown whether the call was executed; make it again without requestState.';
  return new GatewayError('REPLICA_AWAY', text, { cause });
}

function parseParams(text: unknown): JsonObject | undefined {
  const value: unknown = typeof text === 'string' ? parseExact(text) : undefined;
  return isJsonObject(value) ? value : undefined;
}

function parseOwner(value: unknown): CallOwner | undefined {
  if (!isJsonObject(value)) return undefined;
  const { caller, place: endpoint, capabilities } = value;
  if (typeof caller !== 'string' || typeof endpoint !== 'string' || !isJsonObject(capabilities))
    return undefined;
  return { caller, endpoint, capabilities };
}
