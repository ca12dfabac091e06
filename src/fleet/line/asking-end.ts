import { GatewayError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Channel, ChannelEvents } from '../channel.ts';
import { bodyOf } from './frame.ts';
import type { Frame } from './frame.ts';
import type { Link } from './link.ts';
import { errorOf, problemOf } from '../problem.ts';

interface Waiting {
  readonly resolve: (body: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

interface Opened {
  readonly events: ChannelEvents;
  /** Until the other end has agreed. */
  waiting: Waiting | undefined;
}

const MAX_UNDER_WAY = 1000;

/** The end of a line that asks, and that opens channels. */
export class AskingEnd {
  readonly #link: Link;
  /** How the other one is called in messages. */
  readonly #name: string;
  readonly #waiting = new Map<number, Waiting>();
  readonly #channels = new Map<number, Opened>();
  #next = 1;

  constructor(link: Link, name: string) {
    this.#link = link;
    this.#name = name;
  }

  get isUsed(): boolean {
    return this.#waiting.size + this.#channels.size > 0;
  }

  ask(subject: string, body: JsonObject, signal: AbortSignal | undefined): Promise<JsonObject> {
    if (this.#waiting.size >= MAX_UNDER_WAY) throw this.#busy();
    signal?.throwIfAborted();
    const id = this.#next++;
    const text = JSON.stringify(body);
    return new Promise<JsonObject>((resolve, reject) => {
      const stop = (): void => {
        if (!this.#waiting.delete(id)) return;
        this.#link.send(['cancel', id]);
        reject(signal?.reason as Error); // Aborted signals have one; what it is is up to the asker.
      };
      const settled = (): void => signal?.removeEventListener('abort', stop);
      signal?.addEventListener('abort', stop, { once: true });
      this.#waiting.set(id, {
        resolve: (answer) => {
          settled();
          resolve(answer);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      this.#link.send(['ask', id, subject], text);
    });
  }

  /** Resolves with what the other end said to it. */
  async open(
    what: JsonObject,
    events: ChannelEvents,
  ): Promise<{ readonly channel: Channel; readonly said: JsonObject }> {
    if (this.#channels.size >= MAX_UNDER_WAY) throw this.#busy();
    const id = this.#next++;
    const channel: Channel = {
      say: (about, body) => {
        if (this.#channels.has(id)) this.#link.send(['say', id, about], body);
      },
      close: (reason) => {
        const mine = this.#channels.get(id);
        if (!this.#channels.delete(id)) return;
        this.#link.send(['close', id], reason && JSON.stringify(problemOf(reason)));
        mine?.waiting?.reject(reason ?? new Error('The channel was closed.'));
      },
    };
    const said = await new Promise<JsonObject>((resolve, reject) => {
      this.#channels.set(id, { events, waiting: { resolve, reject } });
      this.#link.send(['open', id], JSON.stringify(what));
    });
    return { channel, said };
  }

  take(got: Frame): void {
    const { head, body } = got;
    const [kind, id] = head;
    if (typeof id !== 'number') return;
    if (kind === 'answer' || kind === 'problem') {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      settle(waiting, kind === 'answer', bodyOf(got));
      return;
    }
    const opened = this.#channels.get(id);
    if (opened === undefined) return;
    if (kind === 'say') opened.events.said(head[2], body);
    else if (kind === 'opened') {
      const { waiting } = opened;
      opened.waiting = undefined;
      settle(waiting, true, bodyOf(got));
    } else if (kind === 'close') {
      this.#channels.delete(id);
      const error = errorOf(bodyOf(got));
      if (opened.waiting === undefined) opened.events.closed(error);
      else opened.waiting.reject(error);
    }
  }

  /** Nothing is answered any more. */
  lost(cause: Error): void {
    const error = this.#away(cause);
    for (const { reject } of this.#waiting.values()) reject(error);
    for (const { events, waiting } of this.#channels.values()) {
      if (waiting === undefined) events.closed(error);
      else waiting.reject(error);
    }
    this.#waiting.clear();
    this.#channels.clear();
  }

  #away(cause: Error): GatewayError {
    const text = `The gateway ${this.#name} was lost while it was asked; it may or may not have done it, so it was not asked again.`;
    return new GatewayError('REPLICA_AWAY', text, { cause, details: { replica: this.#name } });
  }

  #busy(): GatewayError {
    const text = `More than ${MAX_UNDER_WAY} questions to the gateway ${this.#name} are under way; try again in a moment.`;
    return new GatewayError('UPSTREAM_BUSY', text, { details: { replica: this.#name } });
  }
}

function settle(waiting: Waiting | undefined, isAnswer: boolean, body: unknown): void {
  if (!isAnswer) waiting?.reject(errorOf(body));
  else if (isJsonObject(body)) waiting?.resolve(body);
  else waiting?.reject(errorOf(undefined));
}
