import { setTimeout as sleep } from 'node:timers/promises';

import type { RawClient } from '../../support/raw-client.ts';
import type { JsonObject, RequestOptions } from '../../support/raw-messages.ts';
import type { Asked, Ledger } from '../ledger.ts';
import { patient } from '../patient.ts';
import type { Random } from '../random.ts';
import type { Stage } from '../stage/stage.ts';
import { type Action, actionsFor } from './actions.ts';
import { type ClientKind, type Connection, connect } from './connection.ts';
import { outcomeOfError } from './outcome.ts';

/** Longer than every bound of the gateway together: who is not answered by then never will be. */
const usualPatienceMs = 45_000;
const inFlightAtMost = 6;
/** By then a gateway on a busy machine has read what it was sent. */
const readWithinMs = 200;
/** Whoever waits for a gateway that is about to be there again asks this long. */
const openWithinMs = 30_000;

interface Ending {
  readonly how: 'stop' | 'kill';
  readonly since: number;
}

interface SoakClientDeps {
  readonly stage: Stage;
  readonly ledger: Ledger;
  readonly random: Random;
  /** How long it waits for an answer before it says that there is none. */
  readonly patienceMs?: number;
}

/** A client that asks at random, remembers all it asked, and holds every answer against that. */
export class SoakClient {
  readonly kind: ClientKind;
  readonly ledger: Ledger;
  readonly random: Random;
  /** How and since when its gateway is being ended by us, if it is. */
  ending: Ending | undefined;
  readonly patienceMs: number;
  readonly #stage: Stage;
  readonly #inFlight = new Set<Promise<void>>();
  /** Ids whose answer may come late or never, since we took the request back. */
  readonly #takenBack = new Set<string>();
  #connection: Connection | undefined;
  #isPaused = true;
  #isOver = false;
  #hasLeft = false;
  #lastId = 0;
  #running: Promise<void> | undefined;

  constructor(kind: ClientKind, { stage, ledger, random, patienceMs = usualPatienceMs }: SoakClientDeps) {
    this.patienceMs = patienceMs;
    this.kind = kind;
    this.ledger = ledger;
    this.random = random;
    this.#stage = stage;
  }

  get raw(): RawClient {
    if (this.#connection === undefined) throw new Error(`${this.kind.name} is not connected.`);
    return this.#connection.raw;
  }

  get isOnline(): boolean {
    return this.#connection !== undefined && !this.#hasLeft;
  }

  /** Connects and subscribes; what it hears of questions must be about its own calls. */
  async open(): Promise<void> {
    const deadline = performance.now() + openWithinMs;
    for (;;) {
      try {
        this.#connection = await connect(this.kind, this.#stage);
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

  /** Asks until it is told to stop. */
  start(): void {
    this.#isPaused = false;
    this.#running ??= this.#run();
  }

  /** Asks nothing new; ends when everything was answered. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
    this.#checkStrays();
  }

  /** Crashes; what it asked is nobody's any more. */
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

  /** Sends one request and says how it ended; `judge` looks at a result and says what is wrong with it. */
  async ask(
    asked: Asked,
    request: { readonly method: string; readonly params: JsonObject; readonly options?: RequestOptions },
    judge: (result: JsonObject) => {
      readonly outcome: string;
      readonly provable?: boolean;
      readonly wrong?: string;
    },
  ): Promise<JsonObject | undefined> {
    const id = this.#nextId();
    try {
      const options = { withinMs: this.patienceMs, ...request.options, id };
      const result = await this.raw.request(request.method, request.params, options);
      const { outcome, provable, wrong } = judge(result);
      if (outcome === 'more') return result;
      if (wrong !== undefined) this.ledger.violate(`${asked.tag} (${asked.what}): ${wrong}`);
      this.#end(asked, outcome, provable);
      return result;
    } catch (error) {
      const outcome = outcomeOfError(error);
      if (outcome === 'cancelled') this.#takenBack.add(String(id));
      this.#end(asked, outcome);
      return undefined;
    }
  }

  #end(asked: Asked, outcome: string, provable = false): void {
    const isLost = outcome.startsWith('lost') || outcome === 'unanswered';
    if (this.#hasLeft) {
      this.ledger.end(asked, 'given up by its client');
      return;
    }
    if (isLost && this.#mayLose(asked, outcome)) {
      this.ledger.end(asked, 'lost with its gateway');
      return;
    }
    if (isLost)
      this.ledger.violate(`${asked.tag} (${asked.what} of ${asked.server}) has no answer: ${outcome}`);
    if (outcome === 'INVARIANT') this.ledger.violate(`${asked.tag} (${asked.what}) met a mistake of ours`);
    const isSteady = asked.server === 'steady' || asked.server === undefined;
    if (isSteady && !isLost && this.ending === undefined && outcome !== 'ok' && outcome !== 'cancelled')
      this.ledger.violate(`${asked.tag} (${asked.what}) of a server that is well ended with ${outcome}`);
    this.ledger.end(asked, outcome.startsWith('lost') ? 'lost' : outcome, provable);
  }

  /**
   * A gateway that stops answers whatever reached it, if only with a refusal, or refuses the connection; a pipe answers even for one that
   * was killed. Over the older events nobody can tell what of the last moment has reached it.
   */
  #mayLose({ sentAt }: Asked, outcome: string): boolean {
    if (this.ending === undefined || this.kind.way === 'pipe') return false;
    if (this.ending.how === 'kill') return true;
    if (outcome.includes('ECONNREFUSED')) return true;
    // On a connection that nobody used for a while and that was being closed: no server can help that.
    if (this.kind.way !== 'sse') return outcome.includes('socket hang up') && sentAt > this.ending.since;
    return sentAt > this.ending.since - patient(readWithinMs);
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
      this.ledger.violate(`${this.kind.name} could not go on: ${String(error)}`);
    }
  }

  #nextId(): number | string {
    this.#lastId += 1;
    return this.#lastId % 3 === 0 ? `id-${this.#lastId}` : this.#lastId;
  }

  /** A question must be about a call of this very client, which its message names. */
  answer(params: JsonObject): JsonObject {
    const tag = String(params['message']);
    if (!this.ledger.open.some((asked) => asked.tag === tag && asked.client === this.kind.name))
      this.ledger.violate(`${this.kind.name} was asked about ${tag}, which it did not call`);
    return { action: 'accept', content: { word: tag } };
  }

  /** An answer that nobody waits for is one too many, unless we took its request back. */
  #checkStrays(): void {
    const { strays, notifications, requests, rawLines } = this.raw;
    for (const text of strays.all.splice(0)) {
      const id = /"id":\s*("[^"]*"|-?\d+)/.exec(text)?.[1]?.replaceAll('"', '') ?? 'none';
      if (!this.#takenBack.delete(id))
        this.ledger.violate(`${this.kind.name} got what it did not ask for, or twice: ${text.slice(0, 200)}`);
    }
    // Kept for hours they would be a leak of our own.
    for (const list of [notifications.all, requests.all, rawLines]) list.length = 0;
  }
}
