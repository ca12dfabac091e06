import { randomUUID } from 'node:crypto';
import { Cancellation } from '../lib/cancellation.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { Payload } from '../lib/payload.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import { RPC } from '../wire/era.ts';
import type { IncomingRequest } from '../wire/serving.ts';
import { canAnswer, neededFor } from './asked-client.ts';
import type { Asker } from './client-behind-request.ts';
import { ContinuedCalls } from './continued-calls.ts';
import type { Others } from './sessions/between/others.ts';

/** How the call is made; `asker` is whom the server may ask meanwhile. */
type Start = (cancellation: Cancellation, asker: Asker) => Promise<Payload>;

/** Whose call it is. */
export interface By {
  readonly caller: string;
  /** Where it was made: the same name is another tool elsewhere. */
  readonly place: string;
  readonly capabilities: JsonObject;
}

interface ParkedOptions {
  /** How long a call waits; read when it begins to. */
  readonly ttlMs: number;
  /** Gateways that a request may come to which continues a call of ours. */
  readonly others?: Others | undefined;
}

const PREFIX = 'trunkline.';
const MAX_PARKED = 1000;
/** Questions that a server asks at once come one after the other, and are told together. */
const GATHER_MS = 20;
/** What older servers tell, and the newest revision has no more. */
const GONE: ReadonlySet<string> = new Set([
  'notifications/elicitation/complete',
  'notifications/tasks/status',
]);

/**
 * Calls of modern clients to older servers. A question ends the client's request with `input_required`; the call waits for the
 * request that brings the answers, which must come from the same caller and be otherwise the same.
 */
export class ParkedCalls {
  readonly #options: ParkedOptions;
  readonly #parked = new Map<string, ParkedCall>();
  readonly #elsewhere: ContinuedCalls | undefined;

  constructor(options: ParkedOptions) {
    this.#options = options;
    const { others } = options;
    if (others !== undefined)
      this.#elsewhere = new ContinuedCalls(others, (request, by) => this.#continue(request, by));
  }

  /** Answers with the result, or with what the server wants to know first. */
  run(request: IncomingRequest, by: By, start: Start): Promise<Payload> {
    const state = request.params?.['requestState'];
    if (typeof state !== 'string' || !state.startsWith(PREFIX)) {
      const call = new ParkedCall(request, by);
      return call.begin(request, start, (parked) => this.#park(parked));
    }
    const owner = this.#elsewhere?.ownerOf(state.slice(PREFIX.length));
    if (owner !== undefined && this.#elsewhere !== undefined)
      return this.#elsewhere.continue(owner, request, by);
    return this.#continue(request, by);
  }

  #continue(request: IncomingRequest, by: By): Promise<Payload> {
    const state = String(request.params?.['requestState']);
    const call = this.#parked.get(state);
    if (call?.isContinuedBy(request, by) !== true) {
      const message =
        'requestState is unknown: the call is over, or this is not the request that it belongs to.';
      return Promise.reject(new RpcError({ code: RPC.invalidParams, message }));
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
      oldest[1].abandon('Too many questions are open.');
    }
    const state = `${PREFIX}${this.#elsewhere?.name ?? ''}${randomUUID()}`;
    this.#parked.set(state, call);
    call.expireAfter(this.#options.ttlMs, () => this.#parked.delete(state));
    return state;
  }
}

interface Question {
  readonly method: string;
  readonly params: JsonObject | undefined;
  resolve(answer: JsonObject): void;
  readonly left: () => void;
}

/** A request that is answered when the server has, or asks. */
interface Waiting {
  readonly resolve: (answer: Payload) => void;
  readonly park: (call: ParkedCall) => string;
  readonly request: IncomingRequest;
  readonly cancel: (reason: Error) => void;
}

/** One of these is made for every call of a modern client, and nearly none is ever asked anything. */
class ParkedCall implements Asker {
  readonly #first: IncomingRequest;
  readonly #by: By;
  readonly #cancellation = new Cancellation();
  #questions: Map<string, Question> | undefined;
  #outcome: Promise<Payload> | undefined;
  #request: IncomingRequest | undefined;
  #waiting: Waiting | undefined;
  #gathering: NodeJS.Timeout | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #count = 0;
  /** Capabilities that the server wanted to use and the client has not declared. */
  #lacked: Map<string, JsonObject> | undefined;

  constructor(first: IncomingRequest, by: By) {
    this.#first = first;
    this.#by = by;
  }

  /** The same caller at the same place, and the same request but for its answers. */
  isContinuedBy(request: IncomingRequest, { caller, place }: By): boolean {
    const isSame = caller === this.#by.caller && place === this.#by.place;
    return isSame && sameness(request) === sameness(this.#first);
  }

  begin(request: IncomingRequest, start: Start, park: (call: ParkedCall) => string): Promise<Payload> {
    this.#outcome = start(this.#cancellation, this);
    return this.#next(request, park);
  }

  notify(method: string, params: JsonObject | undefined): void {
    if (!GONE.has(method)) this.#request?.notify(method, params);
  }

  /** Answers that are missing are asked for again. */
  resume(request: IncomingRequest, park: (call: ParkedCall) => string): Promise<Payload> {
    clearTimeout(this.#expiry);
    const responses = request.params?.['inputResponses'];
    for (const [key, answer] of Object.entries(isJsonObject(responses) ? responses : {})) {
      const question = this.#questions?.get(key);
      if (question === undefined || !isJsonObject(answer)) continue;
      this.#questions?.delete(key);
      question.resolve(answer);
    }
    return this.#next(request, park);
  }

  expireAfter(ms: number, expired: () => void): void {
    this.#expiry = setTimeout(() => {
      expired();
      this.abandon('Nobody answered the question in time.');
    }, ms).unref();
  }

  abandon(reason: string): void {
    clearTimeout(this.#expiry);
    this.#cancellation.cancel(new GatewayError('CALL_CANCELLED', reason));
    this.#outcome?.catch(() => {}); // Nobody waits for it any more.
  }

  #next(request: IncomingRequest, park: (call: ParkedCall) => string): Promise<Payload> {
    this.#request = request;
    const cancel = (reason: Error): void => this.#cancellation.cancel(reason);
    request.cancellation.onCancel(cancel);
    return new Promise<Payload>((resolve, reject) => {
      const waiting = { resolve, park, request, cancel };
      this.#waiting = waiting;
      this.#outcome?.then(
        (payload) => {
          this.#answered(waiting);
          if (isFailed(payload) && this.#lacked !== undefined) reject(lacking(this.#lacked));
          else resolve(payload);
        },
        (error: unknown) => {
          this.#answered(waiting);
          if (error instanceof RpcError && this.#lacked !== undefined) reject(lacking(this.#lacked));
          else reject(error instanceof Error ? error : new Error(String(error)));
        },
      );
      if (this.#openQuestions > 0) this.#askSoon();
    });
  }

  #answered(waiting: Waiting): void {
    if (this.#waiting !== waiting) return;
    this.#waiting = undefined;
    waiting.request.cancellation.offCancel(waiting.cancel);
  }

  #askSoon(): void {
    if (this.#gathering !== undefined) return;
    this.#gathering = setTimeout(() => {
      this.#gathering = undefined;
      const waiting = this.#waiting;
      // The server may have finished or given up meanwhile.
      if (waiting === undefined || this.#openQuestions === 0) return;
      this.#answered(waiting);
      waiting.resolve(this.#inputRequired(waiting.park));
    }, GATHER_MS);
  }

  get #openQuestions(): number {
    return this.#questions?.size ?? 0;
  }

  ask(...[method, params, { cancellation, left }]: Parameters<Asker['ask']>): Promise<JsonObject> {
    const question = { method, params: forModernClient(params) };
    if (!canAnswer(question, this.#by.capabilities)) {
      const [name, part] = neededFor(question);
      this.#lacked ??= new Map<string, JsonObject>();
      this.#lacked.set(name, { ...this.#lacked.get(name), ...(part !== undefined && { [part]: {} }) });
      throw new RpcError({ code: RPC.methodNotFound, message: `The client does not support ${method}.` });
    }
    const questions = (this.#questions ??= new Map<string, Question>());
    return new Promise<JsonObject>((resolve, reject) => {
      const key = `question-${++this.#count}`;
      questions.set(key, { ...question, resolve, left });
      const giveUp = (reason: Error): void => {
        questions.delete(key);
        reject(reason);
      };
      cancellation.onCancel(giveUp);
      this.#cancellation.onCancel(giveUp);
      if (this.#waiting !== undefined) this.#askSoon();
    });
  }

  #inputRequired(park: (call: ParkedCall) => string): Payload {
    const open = [...(this.#questions ?? [])];
    for (const [, { left }] of open) left();
    const questions = open.map(([key, { method, params }]) => [key, { method, ...(params && { params }) }]);
    return Payload.of({
      resultType: 'input_required',
      inputRequests: Object.fromEntries(questions) as JsonObject,
      requestState: park(this),
    });
  }
}

function isFailed({ outline }: Payload): boolean {
  return isJsonObject(outline) && outline['isError'] === true;
}

/** What failed after the server was refused a question failed for want of what the client has not declared. */
function lacking(lacked: ReadonlyMap<string, JsonObject>): RpcError {
  return new RpcError({
    code: RPC.missingClientCapability,
    message: `The server needs capabilities that the client has not declared: ${[...lacked.keys()].join(', ')}.`,
    data: { requiredCapabilities: Object.fromEntries(lacked) },
  });
}

/** Pages have no ids any more, since nothing is said of them later. */
function forModernClient(params: JsonObject | undefined): JsonObject | undefined {
  if (params?.['mode'] !== 'url') return params;
  const { elicitationId: _, ...rest } = params;
  return rest;
}

function sameness({ method, params = {} }: IncomingRequest): string {
  const { inputResponses: _, requestState: _state, _meta, ...rest } = params;
  return canonicalJson([method, rest]);
}
