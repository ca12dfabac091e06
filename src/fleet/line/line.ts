import { GatewayError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Logger } from '../../observe/log.ts';
import { accept } from './accept.ts';
import type { Accepting } from './accept.ts';
import type { Answering, Asked } from './answering-end.ts';
import type { Channel, ChannelEvents } from '../channel.ts';
import { dial } from './dial.ts';
import type { Dialed } from './dial.ts';
import { problemOf, errorOf } from '../problem.ts';

/** Answers one subject. What it throws reaches the one who asked: a GatewayError or RpcError as it is, anything else as INVARIANT. */
export type Answerer = (body: JsonObject, asked: Asked) => Promise<JsonObject>;

interface LineOptions {
  /** Id of this replica. */
  readonly self: string;
  /** Shared by the whole fleet, for this purpose only. */
  readonly key: Buffer;
  readonly host: string;
  /** 0 for any. */
  readonly port: number;
  /** Where a replica listens; undefined for one that is gone or was never heard of. From memory. */
  readonly addressOf: (replica: string) => string | undefined;
  readonly maxMessageBytes: number;
  /** How often both ends of a connection say that they are there. */
  readonly pingMs?: number;
  readonly log: Logger;
}

export interface AskOptions {
  /** The other replica is told when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** 0 for as long as it takes. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;

/**
 * What replicas say to each other. One encrypted connection in each direction between two of them, opened when it is first needed and
 * again after it was lost. Whatever was asked is asked once: when a connection is lost meanwhile, the asker is told so.
 */
export class Line implements AsyncDisposable {
  readonly #options: LineOptions;
  readonly #answerers = new Map<string, Answerer>();
  readonly #dialed = new Map<string, Promise<Dialed>>();
  #host: Answering['opened'] | undefined;
  #accepting: Accepting | undefined;
  #isClosed = false;

  private constructor(options: LineOptions) {
    this.#options = options;
  }

  static async listen(options: LineOptions): Promise<Line> {
    const line = new Line(options);
    const answering: Answering = {
      answer: (subject, body, asked) => line.#answered(subject, body, asked),
      opened: async (what, opening) => {
        if (line.#host === undefined) throw notYet();
        return line.#host(what, opening);
      },
    };
    line.#accepting = await accept({ ...options, answering });
    return line;
  }

  get port(): number {
    return this.#accepting?.port ?? 0;
  }

  /** Gives the answer of another replica, or of this one. */
  async ask(
    replica: string,
    subject: string,
    body: JsonObject,
    { signal, timeoutMs = TIMEOUT_MS }: AskOptions = {},
  ): Promise<JsonObject> {
    if (replica === this.#options.self) return this.#askSelf(subject, body, signal);
    const { end } = await this.#to(replica);
    if (signal?.aborted === true) throw cancelled(signal);
    const abort = new AbortController();
    const stop = (): void => abort.abort(cancelled(signal));
    signal?.addEventListener('abort', stop, { once: true });
    const timer =
      timeoutMs > 0 ? setTimeout(() => abort.abort(tooSlow(replica, timeoutMs)), timeoutMs) : undefined;
    try {
      return await end.ask(subject, body, abort.signal);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }

  /** Who answers questions about this subject; there is one at a time. */
  answer(subject: string, answerer: Answerer): Disposable {
    if (this.#answerers.has(subject))
      throw new GatewayError('INVARIANT', `Two answer "${subject}" on the line between gateways.`);
    this.#answerers.set(subject, answerer);
    return { [Symbol.dispose]: () => void this.#answerers.delete(subject) };
  }

  /** Opens a channel to another replica. */
  async open(
    replica: string,
    what: JsonObject,
    events: ChannelEvents,
  ): Promise<{ readonly channel: Channel; readonly said: JsonObject }> {
    return (await this.#to(replica)).end.open(what, events);
  }

  /** Who agrees to channels that others open. */
  host(opened: Answering['opened']): void {
    this.#host = opened;
  }

  /** Gives up the connections to replicas that are no more; what waits for them is told. */
  sweep(): void {
    for (const [replica, dialing] of this.#dialed) {
      if (this.#options.addressOf(replica) !== undefined) continue;
      this.#dialed.delete(replica);
      // One that never came is told to whom asked.
      dialing.then(
        ({ link }) => link.close(new Error('It is gone.')),
        () => {},
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#accepting?.close();
    const all = await Promise.allSettled(this.#dialed.values());
    for (const one of all)
      if (one.status === 'fulfilled') one.value.link.close(new Error('The gateway is stopping.'));
    this.#dialed.clear();
  }

  #to(replica: string): Promise<Dialed> {
    const known = this.#dialed.get(replica);
    if (known !== undefined) return known;
    const { self, key, maxMessageBytes, pingMs, addressOf } = this.#options;
    const address = addressOf(replica);
    if (this.#isClosed || address === undefined) return Promise.reject(away(replica));
    const forget = (): void => {
      if (this.#dialed.get(replica) === dialing) this.#dialed.delete(replica);
    };
    const dialing = dial({
      ...{ from: self, to: replica, address, key, maxMessageBytes, pingMs },
      onLost: forget,
    }).catch((error: unknown) => {
      forget();
      throw away(replica, address, error);
    });
    this.#dialed.set(replica, dialing);
    return dialing;
  }

  /** As if it had come over a socket: nothing is shared with the one who asked, and errors are the same. */
  async #askSelf(subject: string, body: JsonObject, signal?: AbortSignal): Promise<JsonObject> {
    const asked = { from: this.#options.self, signal: signal ?? new AbortController().signal };
    try {
      return await this.#answered(subject, structuredClone(body), asked);
    } catch (error) {
      throw errorOf(problemOf(error));
    }
  }

  async #answered(subject: string, body: JsonObject, asked: Asked): Promise<JsonObject> {
    const answerer = this.#answerers.get(subject);
    if (answerer === undefined) throw notYet();
    try {
      return await answerer(body, asked);
    } catch (error) {
      this.#options.log.debug('A question of another gateway failed.', { subject, reason: String(error) });
      throw error;
    }
  }
}

function away(replica: string, address?: string, cause?: unknown): GatewayError {
  const why =
    address === undefined
      ? 'it has ended'
      : `it cannot be reached at ${address}: ${cause instanceof Error ? cause.message : 'it is stopping'}`;
  const text = `The gateway ${replica} of this fleet was not asked, since ${why}.`;
  return new GatewayError('REPLICA_AWAY', text, { cause, details: { replica, isUnasked: true } });
}

function tooSlow(replica: string, ms: number): GatewayError {
  const text = `The gateway ${replica} of this fleet did not answer within ${ms / 1000} s.`;
  return new GatewayError('REPLICA_AWAY', text, { details: { replica } });
}

function notYet(): GatewayError {
  const text = 'The other gateway does not answer this; it may be starting, stopping, or of another version.';
  return new GatewayError('REPLICA_AWAY', text);
}

function cancelled(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  if (reason instanceof GatewayError) return reason;
  return new GatewayError('CALL_CANCELLED', 'The question to another gateway was cancelled.');
}
