import { randomUUID } from 'node:crypto';

import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { ReplicaBus } from '../../../core/replica-bus.ts';
import type { SseSink } from '../../../protocol/http/sse-response.ts';
import { STANDALONE_STREAM } from '../../../protocol/http/resumable-streams.ts';
import type { Session } from '../session.ts';

interface StreamEvent {
  readonly id: string;
  readonly text: string;
}

/** A stream that broke at another replica and continues here. */
export interface RemoteStream {
  /**
   * `over`: nothing more will come, not even missed events. `complete`: only the missed events remain. `running`: further events follow.
   * `alone`: the stream belongs to no request and continues at the replica where the client reconnected.
   */
  readonly kind: 'over' | 'complete' | 'running' | 'alone';
  readonly missed: readonly StreamEvent[];
  /** Sends all further events to the stream; must be called once, after the missed events were sent. */
  continueOn(stream: SseSink): void;
  /** Reports that the client has disconnected from this replica, too. */
  leave(): void;
}

/** A stream of another replica that a client reads here. */
interface IncomingStream {
  to: SseSink | undefined;
  /** Events that arrived before `continueOn`. */
  readonly early: JsonObject[];
}

/** A stream of this replica that a client reads at another one. */
interface OutgoingStream {
  readonly sink: ReplicaSink;
  readonly onBroken: () => void;
}

const TIMEOUT_MS = 5000;
const MAX_EARLY_EVENTS = 1000;
const MAX_OUTGOING = 1000;

/** Lets a client read a stream at one replica while another replica works on the request. */
export class RelayedStreams implements Disposable {
  readonly #replicas: ReplicaBus;
  readonly #incoming = new Map<string, IncomingStream>();
  readonly #outgoing = new Map<string, OutgoingStream>();
  readonly #handlers: readonly Disposable[];

  constructor(replicas: ReplicaBus, findSession: (body: JsonObject) => Session | undefined) {
    this.#replicas = replicas;
    this.#handlers = [
      replicas.onRequest('session.resume', async (body, { from }) =>
        this.#resumeHere(findSession(body), body, from),
      ),
      replicas.onRequest('session.event', async (body) => ({ isOpen: this.#onEvent(body) })),
      replicas.onRequest('session.left', async ({ relay }) => {
        this.#break(String(relay));
        return {};
      }),
    ];
  }

  /**
   * Resumes a stream of the replica that sent the event. Resolves with undefined if that replica does not know the event, and rejects if
   * the replica has stopped.
   */
  async resume(replica: string, session: Session, lastEvent: string): Promise<RemoteStream | undefined> {
    const relay = randomUUID();
    const incoming: IncomingStream = { to: undefined, early: [] };
    // Registered before the request, because events may arrive before its response.
    this.#incoming.set(relay, incoming);
    const forget = (): void => void this.#incoming.delete(relay);
    const options = { timeoutMs: TIMEOUT_MS };
    const body = { ...session.reference, lastEvent, relay };
    try {
      const answer = await this.#replicas.request(replica, 'session.resume', body, options);
      const { kind } = answer;
      if (kind !== 'over' && kind !== 'complete' && kind !== 'running' && kind !== 'alone') {
        forget();
        return undefined;
      }
      if (kind !== 'running') forget();
      return {
        kind,
        missed: parseEvents(answer['missed']),
        continueOn: (stream) => {
          incoming.to = stream;
          for (const early of incoming.early.splice(0)) this.#onEvent({ ...early, relay });
        },
        leave: () => {
          if (!this.#incoming.has(relay)) return;
          forget();
          // A failure is ignored, because the response to the next event tells the replica that nobody reads the stream.
          this.#replicas.request(replica, 'session.left', { relay }, options).catch(() => {});
        },
      };
    } catch (error) {
      forget();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const handler of this.#handlers) handler[Symbol.dispose]();
  }

  /** Runs at the replica that works on the request; `reader` is the replica where the client reads. */
  #resumeHere(session: Session | undefined, { lastEvent, relay }: JsonObject, reader: string): JsonObject {
    if (session === undefined || typeof lastEvent !== 'string' || typeof relay !== 'string') return {};
    if (session.resumable.isComplete(lastEvent)) return { kind: 'over' };
    const send = (event: JsonObject): Promise<JsonObject> =>
      this.#replicas.request(reader, 'session.event', { relay, ...event }, { timeoutMs: TIMEOUT_MS });
    const sink = new ReplicaSink(send, {
      onLost: () => this.#break(relay),
      onEnd: () => void this.#outgoing.delete(relay),
    });
    const resumed = session.resumable.resume(lastEvent, sink);
    if (resumed === undefined) return {};
    const missed = sink.release().map(({ id, text }) => ({ id, text }));
    if (resumed.stream === STANDALONE_STREAM) return { kind: 'alone', missed };
    if (resumed.isComplete) return { kind: 'complete', missed };
    const oldest = this.#outgoing.size >= MAX_OUTGOING ? [...this.#outgoing.keys()][0] : undefined;
    if (oldest !== undefined) this.#break(oldest);
    this.#outgoing.set(relay, { sink, onBroken: () => session.resumable.markBroken(resumed.stream) });
    return { kind: 'running', missed };
  }

  /** Stops relaying a stream whose reader is gone; the client may still resume it elsewhere. */
  #break(relay: string): void {
    const outgoing = this.#outgoing.get(relay);
    if (!this.#outgoing.delete(relay) || outgoing === undefined) return;
    const wasOpen = outgoing.sink.isOpen;
    outgoing.sink.discard();
    if (wasOpen) outgoing.onBroken();
  }

  /** Runs at the replica where the client reads; returns whether the client still reads. */
  #onEvent(body: JsonObject): boolean {
    const { relay, text, id, isEnd } = body;
    const incoming = typeof relay === 'string' ? this.#incoming.get(relay) : undefined;
    if (incoming === undefined || typeof relay !== 'string') return false;
    if (incoming.to === undefined) {
      if (incoming.early.length < MAX_EARLY_EVENTS) incoming.early.push(body);
      return true;
    }
    if (isEnd === true) {
      this.#incoming.delete(relay);
      incoming.to.end();
    } else if (typeof text === 'string')
      incoming.to.send(text, 'message', typeof id === 'string' ? id : undefined);
    return incoming.to.isOpen;
  }
}

/** Sends events to another replica, one after the other. */
class ReplicaSink implements SseSink {
  readonly #send: (event: JsonObject) => Promise<JsonObject>;
  readonly #callbacks: { readonly onLost: () => void; readonly onEnd: () => void };
  /** The events before `release`; undefined after it. */
  #collected: StreamEvent[] | undefined = [];
  #last: Promise<void> = Promise.resolve();
  #isOpen = true;

  constructor(
    send: (event: JsonObject) => Promise<JsonObject>,
    callbacks: { readonly onLost: () => void; readonly onEnd: () => void },
  ) {
    this.#send = send;
    this.#callbacks = callbacks;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Returns the events so far, which the response to `session.resume` contains; later events are sent one by one. */
  release(): readonly StreamEvent[] {
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
    this.#callbacks.onEnd();
    this.#queue({ isEnd: true });
  }

  destroy(): void {
    this.end();
  }

  /** Does nothing, since the other replica keeps its stream alive itself. */
  tick(): void {}

  discard(): void {
    this.#isOpen = false;
  }

  #queue(event: JsonObject): void {
    this.#last = this.#last.then(async () => {
      const answer = await this.#send(event).catch((): JsonObject => ({}));
      if (answer['isOpen'] !== true && this.#isOpen) this.#callbacks.onLost();
    });
  }
}

function parseEvents(value: unknown): readonly StreamEvent[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((event: unknown) => {
    if (!isJsonObject(event)) return [];
    const { id, text } = event;
    return typeof id === 'string' && typeof text === 'string' ? [{ id, text }] : [];
  });
}
