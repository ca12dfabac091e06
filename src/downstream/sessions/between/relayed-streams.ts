import { randomUUID } from 'node:crypto';

import { isJsonObject } from '../../../model/json.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { EventSink } from '../../../wire/http/sse-server.ts';
import { STANDALONE } from '../../../wire/http/resumable-streams.ts';
import { sessionProof } from './others.ts';
import type { Others } from './others.ts';
import type { Session } from '../session.ts';

interface SentEvent {
  readonly id: string;
  readonly text: string;
}

/** How a stream goes on that broke at another gateway. */
export interface Elsewhere {
  /** `over`: there is nothing to come back for; `alone`: it belongs to no request, and goes on wherever it is opened. */
  readonly kind: 'over' | 'complete' | 'running' | 'alone';
  readonly missed: readonly SentEvent[];
  /** Lets what follows go there; to be called once, with the stream that carries what was missed already. */
  goOn(to: EventSink): void;
  /** The client is gone from here as well. */
  left(): void;
}

interface Relay {
  to: EventSink | undefined;
  readonly early: JsonObject[];
}

const PATIENCE_MS = 5000;
const MAX_EARLY = 1000;
const MAX_RELAYS = 1000;

/** Streams of requests that are answered at one gateway and read on at another one. */
export class RelayedStreams implements Disposable {
  readonly #others: Others;
  /** What comes in for clients that read here. */
  readonly #relays = new Map<string, Relay>();
  /** What goes out to clients that read elsewhere. */
  readonly #sinks = new Map<string, { readonly sink: RelaySink; readonly broke: () => void }>();
  readonly #answering: readonly Disposable[];

  constructor(others: Others, session: (body: JsonObject) => Session | undefined) {
    this.#others = others;
    this.#answering = [
      others.answer('session.resume', async (body, { from }) => this.#resumed(session(body), body, from)),
      others.answer('session.event', async (body) => ({ isOpen: this.#came(body) })),
      others.answer('session.left', async ({ relay }) => {
        this.#broke(String(relay));
        return {};
      }),
    ];
  }

  /** Asks the gateway that sent the event; undefined when it does not know it, rejects when it is gone. */
  async resume(by: string, session: Session, lastEvent: string): Promise<Elsewhere | undefined> {
    const relay = randomUUID();
    const waiting: Relay = { to: undefined, early: [] };
    this.#relays.set(relay, waiting);
    const forget = (): void => void this.#relays.delete(relay);
    const body = { ...sessionProof(session), lastEvent, relay };
    try {
      const answer = await this.#others.ask(by, 'session.resume', body, { timeoutMs: PATIENCE_MS });
      const { kind } = answer;
      if (kind !== 'over' && kind !== 'complete' && kind !== 'running' && kind !== 'alone') return undefined;
      if (kind !== 'running') forget();
      return {
        kind,
        missed: eventsOf(answer['missed']),
        goOn: (to) => {
          waiting.to = to;
          for (const early of waiting.early.splice(0)) this.#came({ ...early, relay });
        },
        left: () => {
          if (!this.#relays.has(relay)) return;
          forget();
          this.#others.ask(by, 'session.left', { relay }, { timeoutMs: PATIENCE_MS }).catch(() => {}); // It notices with the next event.
        },
      };
    } catch (error) {
      forget();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const answering of this.#answering) answering[Symbol.dispose]();
  }

  /** At the gateway that answers the request. */
  #resumed(session: Session | undefined, { lastEvent, relay }: JsonObject, to: string): JsonObject {
    if (session === undefined || typeof lastEvent !== 'string' || typeof relay !== 'string') return {};
    if (session.resumable.isOver(lastEvent)) return { kind: 'over' };
    const ask = (event: JsonObject): Promise<JsonObject> =>
      this.#others.ask(to, 'session.event', { relay, ...event }, { timeoutMs: PATIENCE_MS });
    const sink = new RelaySink(ask, {
      lost: () => this.#broke(relay),
      ended: () => void this.#sinks.delete(relay),
    });
    const resumed = session.resumable.resume(lastEvent, sink);
    if (resumed === undefined) return {};
    const missed = sink.release().map(({ id, text }) => ({ id, text }));
    if (resumed.stream === STANDALONE) return { kind: 'alone', missed };
    if (resumed.isComplete) return { kind: 'complete', missed };
    const oldest = this.#sinks.size >= MAX_RELAYS ? [...this.#sinks.keys()][0] : undefined;
    if (oldest !== undefined) this.#broke(oldest);
    this.#sinks.set(relay, { sink, broke: () => session.resumable.broke(resumed.stream) });
    return { kind: 'running', missed };
  }

  #broke(relay: string): void {
    const out = this.#sinks.get(relay);
    if (!this.#sinks.delete(relay) || out === undefined) return;
    const wasOpen = out.sink.isOpen;
    out.sink.lose();
    if (wasOpen) out.broke();
  }

  /** At the gateway where the client reads; whether it still does. */
  #came(body: JsonObject): boolean {
    const { relay: key, text, id, isEnd } = body;
    const relay = typeof key === 'string' ? this.#relays.get(key) : undefined;
    if (relay === undefined || typeof key !== 'string') return false;
    if (relay.to === undefined) {
      if (relay.early.length < MAX_EARLY) relay.early.push(body);
      return true;
    }
    if (isEnd === true) {
      this.#relays.delete(key);
      relay.to.end();
    } else if (typeof text === 'string')
      relay.to.send(text, 'message', typeof id === 'string' ? id : undefined);
    return relay.to.isOpen;
  }
}

/** Events on their way to another gateway, one after the other. */
class RelaySink implements EventSink {
  readonly #ask: (event: JsonObject) => Promise<JsonObject>;
  readonly #on: { readonly lost: () => void; readonly ended: () => void };
  #collected: SentEvent[] | undefined = [];
  #last: Promise<void> = Promise.resolve();
  #isOpen = true;

  constructor(
    ask: (event: JsonObject) => Promise<JsonObject>,
    on: { readonly lost: () => void; readonly ended: () => void },
  ) {
    this.#ask = ask;
    this.#on = on;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** What was sent so far goes with the answer, everything else by itself. */
  release(): readonly SentEvent[] {
    const collected = this.#collected ?? [];
    this.#collected = undefined;
    return collected;
  }

  send(text: string, _event?: string, id = ''): void {
    if (this.#collected !== undefined) this.#collected.push({ id, text });
    else if (this.#isOpen) this.#queue({ text, id });
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#on.ended();
    this.#queue({ isEnd: true });
  }

  destroy(): void {
    this.end();
  }

  /** The other gateway keeps its stream awake. */
  tick(): void {}

  lose(): void {
    this.#isOpen = false;
  }

  #queue(event: JsonObject): void {
    this.#last = this.#last.then(async () => {
      const answer = await this.#ask(event).catch((): JsonObject => ({}));
      if (answer['isOpen'] !== true && this.#isOpen) this.#on.lost();
    });
  }
}

function eventsOf(value: unknown): readonly SentEvent[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: unknown) => {
    if (!isJsonObject(one)) return [];
    const { id, text } = one;
    return typeof id === 'string' && typeof text === 'string' ? [{ id, text }] : [];
  });
}
