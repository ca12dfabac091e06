import type { EventSink } from './sse-server.ts';

/** A response that goes on, on another connection, when its client comes back. */
export interface Resumable {
  /** From here on everything goes to this stream. */
  resume(stream: EventSink): void;
  /** The client did not come back in time. */
  giveUp(): void;
}

interface Sent {
  readonly stream: number;
  readonly event: number;
  readonly text: string;
}

/** What an id of an event says by itself. */
export interface EventName {
  /** Whoever sent it, where there are several. */
  readonly by: string | undefined;
  readonly stream: number;
  readonly event: number;
  /** What the stream was begun with. */
  readonly label: string | undefined;
}

export function readEventId(id: string): EventName | undefined {
  const [found, by, stream, event, label] = EVENT_ID.exec(id) ?? [];
  return found === undefined ? undefined : { by, stream: Number(stream), event: Number(event), label };
}

interface Broken {
  readonly response: Resumable;
  readonly timer: NodeJS.Timeout;
}

/** Stands for the stream that belongs to no request. */
export const STANDALONE = 0;
const MAX_EVENTS = 500;
const MAX_CHARACTERS = 512 * 1024;
const EVENT_ID = /^(?:([a-z2-7]{8})\.)?(\d{1,15})-(\d{1,15})(?:\.([\w-]{1,80}))?$/;

/**
 * What was sent to one session lately, so that a client whose stream broke gets the rest of it with `Last-Event-ID`. A
 * request whose stream broke goes on for a while; if nobody comes back for it, it is given up.
 */
export class ResumableStreams {
  readonly #waitMs: number;
  readonly #by: string | undefined;
  readonly #labels = new Map<number, string>();
  readonly #sent: Sent[] = [];
  readonly #running = new Map<number, Resumable>();
  readonly #broken = new Map<number, Broken>();
  #characters = 0;
  #streams = STANDALONE;
  #events = 0;

  constructor(options: {
    readonly waitMs: number;
    /** Our name, where several gateways send to one client. */
    readonly by?: string | undefined;
  }) {
    this.#waitMs = options.waitMs;
    this.#by = options.by;
  }

  /** A stream begins; its number goes with everything that is sent on it, and where there are several gateways its label, too. */
  begin(response: Resumable, label?: string): number {
    this.#running.set(++this.#streams, response);
    if (label !== undefined && this.#by !== undefined) this.#labels.set(this.#streams, label);
    return this.#streams;
  }

  /** Remembers a message, the newest of them in any case, and gives the id of its event. */
  record(stream: number, text: string): string {
    const event = ++this.#events;
    this.#sent.push({ stream, event, text });
    this.#characters += text.length;
    while (this.#sent.length > 1 && (this.#sent.length > MAX_EVENTS || this.#characters > MAX_CHARACTERS))
      this.#forget();
    return this.#idOf(stream, event);
  }

  #forget(): void {
    const forgotten = this.#sent.shift();
    if (forgotten === undefined) return;
    this.#characters -= forgotten.text.length;
    const { stream } = forgotten;
    if (
      this.#labels.has(stream) &&
      !this.#running.has(stream) &&
      !this.#sent.some((one) => one.stream === stream)
    )
      this.#labels.delete(stream);
  }

  /** The connection is gone before the stream was complete. */
  broke(stream: number): void {
    const response = this.#running.get(stream);
    if (response === undefined) return;
    clearTimeout(this.#broken.get(stream)?.timer);
    const timer = setTimeout(() => {
      this.end(stream);
      response.giveUp();
    }, this.#waitMs).unref();
    this.#broken.set(stream, { response, timer });
  }

  /** The stream is complete; what was sent on it is still remembered for a while. */
  end(stream: number): void {
    this.#running.delete(stream);
    clearTimeout(this.#broken.get(stream)?.timer);
    this.#broken.delete(stream);
  }

  /** Whether an event was the last of its stream, so that there is nothing to come back for. */
  isOver(lastEvent: string): boolean {
    const found = this.#find(lastEvent);
    return found !== undefined && found.isComplete && found.missed.length === 0;
  }

  /**
   * Sends what followed an event, and lets its stream go on here. Gives the number of that stream, which may be complete
   * by now, or undefined when the id is none of ours.
   */
  resume(
    lastEvent: string,
    to: EventSink,
  ): { readonly stream: number; readonly isComplete: boolean } | undefined {
    const found = this.#find(lastEvent);
    if (found === undefined) return undefined;
    const { stream, isComplete } = found;
    for (const { event, text } of found.missed) to.send(text, 'message', this.#idOf(stream, event));
    clearTimeout(this.#broken.get(stream)?.timer);
    this.#broken.delete(stream);
    this.#running.get(stream)?.resume(to);
    return { stream, isComplete };
  }

  #find(
    lastEvent: string,
  ): { readonly stream: number; readonly missed: readonly Sent[]; readonly isComplete: boolean } | undefined {
    const name = readEventId(lastEvent);
    if (name === undefined || name.by !== this.#by || name.stream > this.#streams) return undefined;
    const { stream: number, event: last } = name;
    const missed = this.#sent.filter(({ stream, event }) => stream === number && event > last);
    return { stream: number, missed, isComplete: number !== STANDALONE && !this.#running.has(number) };
  }

  #idOf(stream: number, event: number): string {
    if (this.#by === undefined) return `${stream}-${event}`;
    const label = this.#labels.get(stream);
    return `${this.#by}.${stream}-${event}${label === undefined ? '' : `.${label}`}`;
  }

  close(): void {
    for (const { timer } of this.#broken.values()) clearTimeout(timer);
    this.#broken.clear();
    this.#running.clear();
  }
}
