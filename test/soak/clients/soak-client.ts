import { setTimeout as sleep } from 'node:timers/promises';

import type { RawClient } from '../../support/raw-client.ts';
import type { JsonObject, RequestOptions } from '../../support/raw-messages.ts';
import type { TrackedRequest, RequestTracker } from '../request-tracker.ts';
import { scaleDeadline } from '../../support/scale-deadline.ts';
import type { Random } from '../random.ts';
import type { SoakEnvironment } from '../environment/soak-environment.ts';
import { type Action, actionsFor } from './actions.ts';
import { type ClientKind, type Connection, connect } from './connection.ts';
import { outcomeOfError } from './outcome.ts';

/** Longer than all timeouts of the gateway together: a request without an answer by then will never get one. */
const usualPatienceMs = 45_000;
const inFlightAtMost = 6;
/** Time within which a gateway on a busy machine has read a request. */
const readWithinMs = 200;
/** How long a client tries to reach a gateway that is restarting. */
const openWithinMs = 30_000;

interface Ending {
  readonly how: 'stop' | 'kill';
  readonly since: number;
}

interface SoakClientDeps {
  readonly environment: SoakEnvironment;
  readonly tracker: RequestTracker;
  readonly random: Random;
  /** How long it waits for an answer before it reports the request as unanswered. */
  readonly patienceMs?: number;
}

/** A client that sends random requests and checks every answer against them. */
export class SoakClient {
  readonly kind: ClientKind;
  readonly tracker: RequestTracker;
  readonly random: Random;
  /** How and since when the soak is ending its gateway, if it is. */
  ending: Ending | undefined;
  readonly patienceMs: number;
  readonly #environment: SoakEnvironment;
  readonly #inFlight = new Set<Promise<void>>();
  /** Ids of cancelled requests, whose answer may arrive late or never. */
  readonly #takenBack = new Set<string>();
  #connection: Connection | undefined;
  #isPaused = true;
  #isOver = false;
  #hasLeft = false;
  #lastId = 0;
  #running: Promise<void> | undefined;

  constructor(
    kind: ClientKind,
    { environment, tracker, random, patienceMs = usualPatienceMs }: SoakClientDeps,
  ) {
    this.patienceMs = patienceMs;
    this.kind = kind;
    this.tracker = tracker;
    this.random = random;
    this.#environment = environment;
  }

  get raw(): RawClient {
    if (this.#connection === undefined) throw new Error(`${this.kind.name} is not connected.`);
    return this.#connection.raw;
  }

  get isOnline(): boolean {
    return this.#connection !== undefined && !this.#hasLeft;
  }

  /** Connects and subscribes. Questions that it receives must be about its own calls. */
  async open(): Promise<void> {
    const deadline = performance.now() + openWithinMs;
    for (;;) {
      try {
        this.#connection = await connect(this.kind, this.#environment);
        this.raw.answers('elicitation/create', (params) => this.answer(params));
        await this.raw.open();
        await this.raw.listen([this.steadyUri]);
        break;
      } catch (error) {
        if (performance.now() > deadline) throw error;
        await this.#connection?.drop().catch(() => {});
        await sleep(100);
      }
    }
    this.#hasLeft = false;
    this.#takenBack.clear();
  }

  get steadyUri(): string {
    return `soak://${this.kind.way === 'alone' ? 'alone-steady' : 'steady'}/changing`;
  }

  /** Sends requests until it is paused. */
  start(): void {
    this.#isPaused = false;
    this.#running ??= this.#run();
  }

  /** Sends no new requests; resolves when all requests have ended. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
    this.#checkStrays();
  }

  /** Disconnects like a crash; its open requests are given up. */
  async leave(): Promise<void> {
    this.#isPaused = true;
    this.#hasLeft = true;
    await this.#connection?.drop();
    await Promise.all(this.#inFlight);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.pause();
    this.#hasLeft = true;
    await this.#connection?.leave();
    await this.#running;
  }

  /** Sends one request and records how it ended. `judge` checks the result and returns what is wrong with it. */
  async ask(
    request: TrackedRequest,
    message: { readonly method: string; readonly params: JsonObject; readonly options?: RequestOptions },
    judge: (result: JsonObject) => {
      readonly outcome: string;
      readonly provable?: boolean;
      readonly wrong?: string;
    },
  ): Promise<JsonObject | undefined> {
    const id = this.#nextId();
    try {
      const options = { withinMs: this.patienceMs, ...message.options, id };
      const result = await this.raw.request(message.method, message.params, options);
      const { outcome, provable, wrong } = judge(result);
      if (outcome === 'more') return result;
      if (wrong !== undefined) this.tracker.violate(`${request.tag} (${request.what}): ${wrong}`);
      this.#end(request, outcome, provable);
      return result;
    } catch (error) {
      const outcome = outcomeOfError(error);
      if (outcome === 'cancelled') this.#takenBack.add(String(id));
      this.#end(request, outcome);
      return undefined;
    }
  }

  #end(request: TrackedRequest, outcome: string, provable = false): void {
    const isLost = outcome.startsWith('lost') || outcome === 'unanswered';
    if (this.#hasLeft) {
      this.tracker.end(request, 'given up by its client');
      return;
    }
    if (isLost && this.#mayLose(request, outcome)) {
      this.tracker.end(request, 'lost with its gateway');
      return;
    }
    if (isLost)
      this.tracker.violate(`${request.tag} (${request.what} of ${request.server}) has no answer: ${outcome}`);
    if (outcome === 'INVARIANT')
      this.tracker.violate(`${request.tag} (${request.what}) failed with an internal error`);
    const isSteady = request.server === 'steady' || request.server === undefined;
    if (isSteady && !isLost && this.ending === undefined && outcome !== 'ok' && outcome !== 'cancelled')
      this.tracker.violate(`${request.tag} (${request.what}) of a healthy server ended with ${outcome}`);
    this.tracker.end(request, outcome.startsWith('lost') ? 'lost' : outcome, provable);
  }

  /**
   * A gateway that stops answers every request that reached it, if only with an error, or refuses the connection; a pipe answers even
   * for a gateway that was killed. Over HTTP+SSE it is unknown which of the last requests have reached the gateway.
   */
  #mayLose({ sentAt }: TrackedRequest, outcome: string): boolean {
    if (this.ending === undefined || this.kind.way === 'pipe') return false;
    if (this.ending.how === 'kill') return true;
    if (outcome.includes('ECONNREFUSED')) return true;
    // The request was sent on an idle connection that was just being closed, which no server can prevent.
    if (this.kind.way !== 'sse') return outcome.includes('socket hang up') && sentAt > this.ending.since;
    return sentAt > this.ending.since - scaleDeadline(readWithinMs, 'soak');
  }

  async #run(): Promise<void> {
    const actions = actionsFor(this.kind);
    while (!this.#isOver) {
      const mayAsk = !this.#isPaused && this.isOnline && this.#inFlight.size < inFlightAtMost;
      if (mayAsk) {
        const doing = this.#do(this.random.pick(actions)).finally(() => void this.#inFlight.delete(doing));
        this.#inFlight.add(doing);
      }
      await sleep(this.random.integer(2, 60));
    }
  }

  async #do(action: Action): Promise<void> {
    try {
      await action(this);
    } catch (error) {
      this.tracker.violate(`${this.kind.name} failed: ${String(error)}`);
    }
  }

  #nextId(): number | string {
    this.#lastId += 1;
    return this.#lastId % 3 === 0 ? `id-${this.#lastId}` : this.#lastId;
  }

  /** Answers a question, which must be about a call of this client. Its message is the tag, below the name of the server that asks. */
  answer(params: JsonObject): JsonObject {
    const tag = String(params['message']).replace(/^Server "[^"]+" asks:\n> /, '');
    if (!this.tracker.open.some((request) => request.tag === tag && request.client === this.kind.name))
      this.tracker.violate(`${this.kind.name} was asked about ${tag}, which it did not call`);
    return { action: 'accept', content: { word: tag } };
  }

  /** An answer without a waiting request is a violation, unless the request was cancelled. */
  #checkStrays(): void {
    const { strays, notifications, requests, rawLines } = this.raw;
    for (const text of strays.all.splice(0)) {
      const id = /"id":\s*("[^"]*"|-?\d+)/.exec(text)?.[1]?.replaceAll('"', '') ?? 'none';
      if (!this.#takenBack.delete(id))
        this.tracker.violate(
          `${this.kind.name} got an unexpected or duplicate answer: ${text.slice(0, 200)}`,
        );
    }
    // Over hours these lists would be a memory leak of the soak itself.
    for (const list of [notifications.all, requests.all, rawLines]) list.length = 0;
  }
}
