import { randomUUID } from 'node:crypto';
import { Cancellation } from '../../core/lib/cancellation.ts';
import { canonicalJson } from '../../core/lib/canonical-json.ts';
import { Payload } from '../../core/lib/payload.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { RPC_ERROR_CODES } from '../../protocol/era.ts';
import type { IncomingRequest } from '../../protocol/client-connection.ts';
import { canAnswer, requiredCapability } from './client-questions.ts';
import type { ServerQuestion } from './client-questions.ts';
import { ParkedCallRelay } from './parked-call-relay.ts';
import type { ReplicaBus } from '../../core/replica-bus.ts';

/** Lets the server reach the client of a call that may be parked. */
export interface ParkedChannel {
  /** Cancelled when the client cancels its request or does not return with the answers in time. */
  readonly cancellation: Cancellation;
  ask(
    question: ServerQuestion,
    options: {
      readonly cancellation: Cancellation;
      /** Called when the client's request ends with the question instead of waiting for the answer. */
      readonly onRequestEnd: () => void;
    },
  ): Promise<JsonObject>;
  notify(method: string, params: JsonObject | undefined): void;
}

/** The client that a call belongs to; only the same owner can continue the call. */
export interface CallOwner {
  /** The key of the caller's identity and permissions. */
  readonly caller: string;
  /** The address at which the call was made, since the same name can mean another tool at another address. */
  readonly endpoint: string;
  readonly capabilities: JsonObject;
}

interface ParkedCallsOptions {
  /** Maximum time that a parked call waits for its client; read when the wait begins. */
  readonly ttlMs: number;
  /** Replicas that may receive the continuation of a parked call. */
  readonly replicas?: ReplicaBus | undefined;
}

/** Starts the call at the server. */
type StartCall = (channel: ParkedChannel) => Promise<Payload>;
/** Stores a call and returns the `requestState` that continues it. */
type ParkCall = (call: ParkedCall) => string;

const STATE_PREFIX = 'trunkline.';
const MAX_PARKED = 1000;
/** Questions that a server asks within this time are sent to the client together. */
const GATHER_MS = 20;
/** Notifications of legacy servers that the modern protocol no longer has. */
const LEGACY_NOTIFICATIONS: ReadonlySet<string> = new Set([
  'notifications/elicitation/complete',
  'notifications/tasks/status',
]);

/**
 * The calls of modern clients. A question of a legacy server ends the client's request with `input_required`; the call is then parked
 * until a request of the same owner, with the same parameters, brings the answers.
 */
export class ParkedCalls {
  readonly #options: ParkedCallsOptions;
  readonly #parked = new Map<string, ParkedCall>();
  readonly #relay: ParkedCallRelay | undefined;

  constructor(options: ParkedCallsOptions) {
    this.#options = options;
    const { replicas } = options;
    if (replicas !== undefined)
      this.#relay = new ParkedCallRelay(replicas, (request, owner) => this.#continue(request, owner));
  }

  /** Resolves with the result of the call, or with the questions of its server. */
  run(request: IncomingRequest, owner: CallOwner, start: StartCall): Promise<Payload> {
    const state = request.params?.['requestState'];
    if (typeof state !== 'string' || !state.startsWith(STATE_PREFIX)) {
      const call = new ParkedCall(request, owner);
      return call.begin(request, start, (parked) => this.#park(parked));
    }
    const replica = this.#relay?.replicaOf(state.slice(STATE_PREFIX.length));
    if (replica !== undefined && this.#relay !== undefined)
      return this.#relay.continue(replica, request, owner);
    return this.#continue(request, owner);
  }

  #continue(request: IncomingRequest, owner: CallOwner): Promise<Payload> {
    const state = String(request.params?.['requestState']);
    const call = this.#parked.get(state);
    if (call?.isContinuedBy(request, owner) !== true) {
      const message =
        'Unknown requestState: the call has ended, or its owner or parameters differ. Make the call again without requestState.';
      return Promise.reject(new RpcError({ code: RPC_ERROR_CODES.invalidParams, message }));
    }
    this.#parked.delete(state);
    return call.resume(request, (parked) => this.#park(parked));
  }

  close(): void {
    const calls = [...this.#parked.values()];
    this.#parked.clear();
    for (const call of calls) call.abandon('The gateway is stopping.');
  }

  #park(call: ParkedCall): string {
    const oldest = this.#parked.size >= MAX_PARKED ? [...this.#parked][0] : undefined;
    if (oldest !== undefined) {
      this.#parked.delete(oldest[0]);
      oldest[1].abandon(`More than ${MAX_PARKED} calls wait for their clients.`);
    }
    const state = `${STATE_PREFIX}${this.#relay?.statePrefix ?? ''}${randomUUID()}`;
    this.#parked.set(state, call);
    call.expireAfter(this.#options.ttlMs, () => this.#parked.delete(state));
    return state;
  }
}

interface PendingQuestion extends ServerQuestion {
  resolve(answer: JsonObject): void;
  readonly onRequestEnd: () => void;
}

/** The client's request that is open now. It is answered when the server responds or asks a question. */
interface OpenRequest {
  readonly resolve: (answer: Payload) => void;
  readonly park: ParkCall;
  readonly request: IncomingRequest;
  readonly cancel: (reason: Error) => void;
}

/** One call of a modern client. Servers ask questions during few calls, so the members for questions are created on first use. */
class ParkedCall implements ParkedChannel {
  readonly cancellation = new Cancellation();
  readonly #first: IncomingRequest;
  readonly #owner: CallOwner;
  #questions: Map<string, PendingQuestion> | undefined;
  #outcome: Promise<Payload> | undefined;
  /** The latest request, which receives notifications. */
  #request: IncomingRequest | undefined;
  /** Undefined while the call is parked, and after its outcome was sent. */
  #open: OpenRequest | undefined;
  #gathering: NodeJS.Timeout | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #questionCount = 0;
  /** Capabilities that the server tried to use and the client has not declared. */
  #missing: Map<string, JsonObject> | undefined;

  constructor(first: IncomingRequest, owner: CallOwner) {
    this.#first = first;
    this.#owner = owner;
  }

  /** Returns whether a request continues this call: same caller, endpoint, method and parameters, apart from the answers. */
  isContinuedBy(request: IncomingRequest, { caller, endpoint }: CallOwner): boolean {
    const isOwner = caller === this.#owner.caller && endpoint === this.#owner.endpoint;
    return isOwner && withoutAnswers(request) === withoutAnswers(this.#first);
  }

  begin(request: IncomingRequest, start: StartCall, park: ParkCall): Promise<Payload> {
    this.#outcome = start(this);
    return this.#waitForOutcome(request, park);
  }

  /** Passes the answers of the client to the server; a question without an answer is asked again. */
  resume(request: IncomingRequest, park: ParkCall): Promise<Payload> {
    clearTimeout(this.#expiry);
    const responses = request.params?.['inputResponses'];
    for (const [key, answer] of Object.entries(isJsonObject(responses) ? responses : {})) {
      const question = this.#questions?.get(key);
      if (question === undefined || !isJsonObject(answer)) continue;
      this.#questions?.delete(key);
      question.resolve(answer);
    }
    return this.#waitForOutcome(request, park);
  }

  notify(method: string, params: JsonObject | undefined): void {
    if (!LEGACY_NOTIFICATIONS.has(method)) this.#request?.notify(method, params);
  }

  ask(question: ServerQuestion, options: Parameters<ParkedChannel['ask']>[1]): Promise<JsonObject> {
    const { method } = question;
    const params = toModernParams(question.params);
    if (!canAnswer({ method, params }, this.#owner.capabilities)) {
      const [name, part] = requiredCapability({ method, params });
      this.#missing ??= new Map<string, JsonObject>();
      this.#missing.set(name, { ...this.#missing.get(name), ...(part !== undefined && { [part]: {} }) });
      throw new RpcError({
        code: RPC_ERROR_CODES.methodNotFound,
        message: `The client does not support ${method}.`,
      });
    }
    const questions = (this.#questions ??= new Map<string, PendingQuestion>());
    return new Promise<JsonObject>((resolve, reject) => {
      const key = `question-${++this.#questionCount}`;
      questions.set(key, { method, params, resolve, onRequestEnd: options.onRequestEnd });
      const giveUp = (reason: Error): void => {
        questions.delete(key);
        reject(reason);
      };
      options.cancellation.onCancel(giveUp);
      this.cancellation.onCancel(giveUp);
      // While the call is parked, the question waits for the next request; see `#waitForOutcome`.
      if (this.#open !== undefined) this.#askSoon();
    });
  }

  expireAfter(ms: number, onExpired: () => void): void {
    this.#expiry = setTimeout(() => {
      onExpired();
      this.abandon('The client did not answer the question in time.');
    }, ms).unref();
  }

  abandon(reason: string): void {
    clearTimeout(this.#expiry);
    this.cancellation.cancel(new GatewayError('CALL_CANCELLED', reason));
    this.#outcome?.catch(() => {}); // No request waits for the outcome any more.
  }

  /** Resolves with the outcome of the call or with the next questions, whichever comes first. */
  #waitForOutcome(request: IncomingRequest, park: ParkCall): Promise<Payload> {
    this.#request = request;
    const cancel = (reason: Error): void => this.cancellation.cancel(reason);
    request.cancellation.onCancel(cancel);
    return new Promise<Payload>((resolve, reject) => {
      const open = { resolve, park, request, cancel };
      this.#open = open;
      this.#outcome?.then(
        (payload) => {
          this.#close(open);
          if (isToolError(payload) && this.#missing !== undefined) reject(missingCapabilities(this.#missing));
          else resolve(payload);
        },
        (error: unknown) => {
          this.#close(open);
          if (error instanceof RpcError && this.#missing !== undefined)
            reject(missingCapabilities(this.#missing));
          else reject(error instanceof Error ? error : new Error(String(error)));
        },
      );
      if (this.#pendingCount > 0) this.#askSoon();
    });
  }

  /** Stops forwarding the cancellation of a request that is about to be answered. */
  #close(open: OpenRequest): void {
    if (this.#open !== open) return;
    this.#open = undefined;
    open.request.cancellation.offCancel(open.cancel);
  }

  /** Ends the open request with all questions that are pending after `GATHER_MS`. */
  #askSoon(): void {
    if (this.#gathering !== undefined) return;
    this.#gathering = setTimeout(() => {
      this.#gathering = undefined;
      const open = this.#open;
      // The server may have finished or given up in the meantime.
      if (open === undefined || this.#pendingCount === 0) return;
      this.#close(open);
      open.resolve(this.#inputRequired(open.park));
    }, GATHER_MS);
  }

  get #pendingCount(): number {
    return this.#questions?.size ?? 0;
  }

  #inputRequired(park: ParkCall): Payload {
    const pending = [...(this.#questions ?? [])];
    for (const [, { onRequestEnd }] of pending) onRequestEnd();
    const requests = pending.map(([key, { method, params }]) => [key, { method, params }]);
    return Payload.of({
      resultType: 'input_required',
      inputRequests: Object.fromEntries(requests) as JsonObject,
      requestState: park(this),
    });
  }
}

function isToolError({ outline }: Payload): boolean {
  return isJsonObject(outline) && outline['isError'] === true;
}

/** Returns the error for a call that failed after a question could not be asked. The missing capability is assumed to be the cause. */
function missingCapabilities(missing: ReadonlyMap<string, JsonObject>): RpcError {
  return new RpcError({
    code: RPC_ERROR_CODES.missingClientCapability,
    message: `The server needs capabilities that the client has not declared: ${[...missing.keys()].join(', ')}.`,
    data: { requiredCapabilities: Object.fromEntries(missing) },
  });
}

/** Removes the `elicitationId`, since modern clients get no later notification that refers to it. */
function toModernParams(params: JsonObject | undefined): JsonObject | undefined {
  if (params?.['mode'] !== 'url') return params;
  const { elicitationId: _, ...rest } = params;
  return rest;
}

/** Serializes a request without the members that may differ when it continues a call. */
function withoutAnswers({ method, params = {} }: IncomingRequest): string {
  const { inputResponses: _, requestState: _state, _meta, ...rest } = params;
  return canonicalJson([method, rest]);
}
