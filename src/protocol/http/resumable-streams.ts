import type { SseSink } from './sse-response.ts';

/** A response that continues on another connection when its client reconnects. */
export interface ResumableResponse {
  /** Continues the response on this stream. */
  resume(stream: SseSink): void;
  /** Called when the client has not reconnected in time. */
  abandon(): void;
}

interface SentEvent {
  readonly stream: number;
  readonly event: number;
  readonly text: string;
}

/** The parts of an event id. */
export interface EventId {
  /** The replica that sent the event, if there are several. */
  readonly replica: string | undefined;
  readonly stream: number;
  readonly event: number;
  /** The label that the stream was started with. */
  readonly label: string | undefined;
}

export function parseEventId(id: string): EventId | undefined {
  const [match, replica, stream, event, label] = EVENT_ID.exec(id) ?? [];
  return match === undefined ? undefined : { replica, stream: Number(stream), event: Number(event), label };
}

interface BrokenStream {
  readonly response: ResumableResponse;
  readonly timer: NodeJS.Timeout;
}

/** The number of the notification stream, which belongs to no request. */
export const STANDALONE_STREAM = 0;
// Beyond either limit, the oldest stored events are dropped.
const MAX_EVENTS = 500;
const MAX_CHARACTERS = 512 * 1024;
/** The format of event ids: `[REPLICA.]STREAM-EVENT[.LABEL]`. */
const EVENT_ID = /^(?:([a-z2-7]{8})\.)?(\d{1,15})-(\d{1,15})(?:\.([\w-]{1,80}))?$/;

/**
 * Stores the recent events of one session, so that a client whose stream broke can get the rest with `Last-Event-ID`. A request whose
 * stream broke continues for `waitMs`; it is abandoned if the client does not reconnect in that time.
 */
export class ResumableStreams {
  readonly #waitMs: number;
  readonly #replica: string | undefined;
  readonly #labels = new Map<number, string>();
  readonly #sent: SentEvent[] = [];
  readonly #running = new Map<number, ResumableResponse>();
  readonly #broken = new Map<number, BrokenStream>();
  #characters = 0;
  #streams = STANDALONE_STREAM;
  #events = 0;

  constructor(options: {
    readonly waitMs: number;
    /** The id of this replica, if several replicas serve the session. */
    readonly replica?: string | undefined;
  }) {
    this.#waitMs = options.waitMs;
    this.#replica = options.replica;
  }

  /** Starts a stream and returns its number, which is part of its event ids. With several replicas, the ids also contain the label. */
  start(response: ResumableResponse, label?: string): number {
    this.#running.set(++this.#streams, response);
    if (label !== undefined && this.#replica !== undefined) this.#labels.set(this.#streams, label);
    return this.#streams;
  }

  /** Stores a message and returns its event id. The newest message is stored whatever its size. */
  record(stream: number, text: string): string {
    const event = ++this.#events;
    this.#sent.push({ stream, event, text });
    this.#characters += text.length;
    while (this.#sent.length > 1 && (this.#sent.length > MAX_EVENTS || this.#characters > MAX_CHARACTERS))
      this.#dropOldest();
    return this.#eventId(stream, event);
  }

  /** Drops the oldest event, and the label of its stream if the stream has ended and has no other stored event. */
  #dropOldest(): void {
    const oldest = this.#sent.shift();
    if (oldest === undefined) return;
    this.#characters -= oldest.text.length;
    const { stream } = oldest;
    if (
      this.#labels.has(stream) &&
      !this.#running.has(stream) &&
      !this.#sent.some((sent) => sent.stream === stream)
    )
      this.#labels.delete(stream);
  }

  /** Called when the connection closes before the stream is complete. */
  markBroken(stream: number): void {
    const response = this.#running.get(stream);
    if (response === undefined) return;
    clearTimeout(this.#broken.get(stream)?.timer);
    const timer = setTimeout(() => {
      this.end(stream);
      response.abandon();
    }, this.#waitMs).unref();
    this.#broken.set(stream, { response, timer });
  }

  /** Completes a stream; its events stay stored until newer ones displace them. */
  end(stream: number): void {
    this.#running.delete(stream);
    clearTimeout(this.#broken.get(stream)?.timer);
    this.#broken.delete(stream);
  }

  /** Returns whether an event was the last one of a complete stream, so that there is nothing to resume. */
  isComplete(lastEvent: string): boolean {
    const found = this.#find(lastEvent);
    return found !== undefined && found.isComplete && found.missed.length === 0;
  }

  /**
   * Sends the events after `lastEvent` and continues the stream on `sink`. Returns the number of the stream, which may be complete by
   * now, or undefined if the id is unknown.
   */
  resume(
    lastEvent: string,
    sink: SseSink,
  ): { readonly stream: number; readonly isComplete: boolean } | undefined {
    const found = this.#find(lastEvent);
    if (found === undefined) return undefined;
    const { stream, isComplete } = found;
    for (const { event, text } of found.missed) sink.send(text, 'message', this.#eventId(stream, event));
    clearTimeout(this.#broken.get(stream)?.timer);
    this.#broken.delete(stream);
    this.#running.get(stream)?.resume(sink);
    return { stream, isComplete };
  }

  #find(
    lastEvent: string,
  ):
    | { readonly stream: number; readonly missed: readonly SentEvent[]; readonly isComplete: boolean }
    | undefined {
    const id = parseEventId(lastEvent);
    if (id === undefined || id.replica !== this.#replica || id.stream > this.#streams) return undefined;
    const { stream: number, event: last } = id;
    const missed = this.#sent.filter(({ stream, event }) => stream === number && event > last);
    return { stream: number, missed, isComplete: number !== STANDALONE_STREAM && !this.#running.has(number) };
  }

  #eventId(stream: number, event: number): string {
    if (this.#replica === undefined) return `${stream}-${event}`;
    const label = this.#labels.get(stream);
    return `${this.#replica}.${stream}-${event}${label === undefined ? '' : `.${label}`}`;
  }

  close(): void {
    for (const { timer } of this.#broken.values()) clearTimeout(timer);
    this.#broken.clear();
    this.#running.clear();
  }
}
