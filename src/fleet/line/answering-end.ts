import { GatewayError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Channel, ChannelEvents } from '../channel.ts';
import { bodyOf } from './frame.ts';
import type { Frame } from './frame.ts';
import type { Link } from './link.ts';
import { errorOf, problemOf } from '../problem.ts';

/** What this replica answers to others. */
export interface Answering {
  answer(subject: string, body: JsonObject, asked: Asked): Promise<JsonObject>;
  /** Agrees to a channel with the words of its answer, and says who gets what comes through it; throwing refuses it. */
  opened(
    what: JsonObject,
    opening: { readonly channel: Channel; readonly from: string; readonly signal: AbortSignal },
  ): Promise<{ readonly said: JsonObject; readonly events: ChannelEvents }>;
}

/** About a question of another replica. */
export interface Asked {
  /** Id of the replica that asks. */
  readonly from: string;
  /** Aborted when it gave up or is gone. */
  readonly signal: AbortSignal;
}

interface Hosted {
  events: ChannelEvents | undefined;
  readonly abort: AbortController;
}

/** More than the other end opens by itself. */
const MAX_UNDER_WAY = 1100;

/** The end of a line that is asked, and at which channels are opened. */
export class AnsweringEnd {
  readonly #link: Link;
  readonly #from: string;
  readonly #answering: Answering;
  readonly #asked = new Map<number, AbortController>();
  readonly #channels = new Map<number, Hosted>();

  constructor(link: Link, from: string, answering: Answering) {
    this.#link = link;
    this.#from = from;
    this.#answering = answering;
  }

  take(got: Frame): void {
    const [kind, id, about] = got.head;
    if (typeof id !== 'number') return;
    if (this.#asked.size > MAX_UNDER_WAY || this.#channels.size > MAX_UNDER_WAY)
      return this.#link.close(new Error('The other gateway asks too much at once.'));
    if (kind === 'ask') void this.#answer(id, about, bodyOf(got));
    else if (kind === 'cancel') this.#asked.get(id)?.abort(givenUp());
    else if (kind === 'open') void this.#open(id, bodyOf(got));
    else if (kind === 'say') this.#channels.get(id)?.events?.said(about, got.body);
    else if (kind === 'close') this.#end(id, errorOf(bodyOf(got) ?? problemOf(givenUp())));
  }

  lost(cause: Error): void {
    const text = `The gateway ${this.#from} is gone.`;
    const error = new GatewayError('REPLICA_AWAY', text, { cause });
    for (const asked of this.#asked.values()) asked.abort(error);
    this.#asked.clear();
    for (const id of [...this.#channels.keys()]) this.#end(id, error);
  }

  async #answer(id: number, subject: unknown, given: unknown): Promise<void> {
    const abort = new AbortController();
    this.#asked.set(id, abort);
    try {
      if (typeof subject !== 'string' || !isJsonObject(given)) throw errorOf(undefined);
      const asked = { from: this.#from, signal: abort.signal };
      const answer = await this.#answering.answer(subject, given, asked);
      this.#link.send(['answer', id], JSON.stringify(answer));
    } catch (error) {
      this.#link.send(['problem', id], JSON.stringify(problemOf(error)));
    } finally {
      this.#asked.delete(id);
    }
  }

  async #open(id: number, what: unknown): Promise<void> {
    const abort = new AbortController();
    const hosted: Hosted = { events: undefined, abort };
    this.#channels.set(id, hosted);
    const isOpen = (): boolean => this.#channels.get(id) === hosted;
    const channel: Channel = {
      say: (about, text) => {
        if (isOpen()) this.#link.send(['say', id, about], text);
      },
      close: (reason) => {
        if (!isOpen()) return;
        this.#channels.delete(id);
        this.#link.send(['close', id], JSON.stringify(problemOf(reason ?? givenUp())));
      },
    };
    try {
      if (!isJsonObject(what)) throw errorOf(undefined);
      const opening = { channel, from: this.#from, signal: abort.signal };
      const { said, events } = await this.#answering.opened(what, opening);
      hosted.events = events;
      if (isOpen()) this.#link.send(['opened', id], JSON.stringify(said));
      else events.closed(givenUp());
    } catch (error) {
      channel.close(error instanceof Error ? error : errorOf(undefined));
    }
  }

  #end(id: number, error: Error): void {
    const hosted = this.#channels.get(id);
    if (!this.#channels.delete(id)) return;
    hosted?.abort.abort(error);
    hosted?.events?.closed(error);
  }
}

function givenUp(): GatewayError {
  return new GatewayError('CALL_CANCELLED', 'The other gateway no longer wants to know.');
}
