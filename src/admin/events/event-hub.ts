import type { AdminEvent } from '../contract/dashboard-contract.ts';
import { EventSubscriber } from './event-subscriber.ts';

export interface EventHubOptions {
  readonly version: string;
  /** When the gateway was started. This time is part of every event id, so ids from before a restart are recognized. */
  readonly startedAt: number;
  /** Called when the first subscriber arrives. Calls `emit` for every change until the result is disposed. */
  readonly watch: (emit: (event: AdminEvent) => void) => Disposable;
  readonly lingerMs?: number;
  readonly heartbeatMs?: number;
}

interface SubscriptionOptions {
  readonly lastId?: string | undefined;
  /** Checked before each event, so that a browser that signs out receives no more events. */
  readonly isAllowed: () => boolean;
}

interface SentEvent {
  readonly seq: number;
  readonly text: string;
}

const MAX_HISTORY = 2000;
const MAX_HISTORY_CHARS = 2 * 1024 * 1024;
const MAX_SUBSCRIBERS = 64;
const LINGER_MS = 60_000;
const HEARTBEAT_MS = 15_000;

/**
 * Sends every change to all subscribers. A subscriber that reconnects within a minute misses nothing: the hub keeps the last events
 * (at most 2,000 events and 2 million characters), and continues to watch for one minute after the last subscriber has left.
 */
export class EventHub implements Disposable {
  readonly #options: EventHubOptions;
  readonly #subscribers = new Set<EventSubscriber>();
  #history: SentEvent[] = [];
  #historyChars = 0;
  /** The number of the last event. */
  #seq = 0;
  /** Counts the starts of the watcher. The history is deleted when the watcher stops. */
  #generation = 0;
  #watcher: Disposable | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #lingering: NodeJS.Timeout | undefined;

  constructor(options: EventHubOptions) {
    this.#options = options;
  }

  /** Adds a subscriber and returns its stream. If there are too many, the oldest one is disconnected. */
  open({ lastId, isAllowed }: SubscriptionOptions): ReadableStream<Uint8Array> {
    const [oldest] = this.#subscribers;
    if (this.#subscribers.size >= MAX_SUBSCRIBERS) oldest?.end();
    clearTimeout(this.#lingering);
    if (this.#watcher === undefined) this.#start();
    const subscriber = new EventSubscriber({
      isAllowed,
      slowEvent: () => this.#format({ event: 'reset', data: { reason: 'slow' } }),
      onEnd: () => this.#remove(subscriber),
    });
    this.#subscribers.add(subscriber);
    this.#greet(subscriber, lastId);
    return subscriber.stream;
  }

  emit(event: AdminEvent): void {
    if (this.#watcher === undefined) return;
    this.#seq++;
    const text = this.#format(event);
    this.#history.push({ seq: this.#seq, text });
    this.#historyChars += text.length;
    while (this.#history.length > MAX_HISTORY || this.#historyChars > MAX_HISTORY_CHARS)
      this.#historyChars -= this.#history.shift()?.text.length ?? 0;
    for (const subscriber of this.#subscribers) subscriber.push(text);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#lingering);
    this.#stop();
    for (const subscriber of this.#subscribers) subscriber.end();
  }

  #start(): void {
    this.#generation++;
    this.#watcher = this.#options.watch((event) => this.emit(event));
    const sendHeartbeats = (): void => {
      for (const subscriber of this.#subscribers) subscriber.sendHeartbeat();
    };
    this.#heartbeat = setInterval(sendHeartbeats, this.#options.heartbeatMs ?? HEARTBEAT_MS).unref();
  }

  #stop(): void {
    clearInterval(this.#heartbeat);
    this.#watcher?.[Symbol.dispose]();
    this.#watcher = undefined;
    this.#history = [];
    this.#historyChars = 0;
  }

  #remove(subscriber: EventSubscriber): void {
    this.#subscribers.delete(subscriber);
    if (this.#subscribers.size > 0 || this.#watcher === undefined) return;
    clearTimeout(this.#lingering);
    this.#lingering = setTimeout(() => this.#stop(), this.#options.lingerMs ?? LINGER_MS).unref();
  }

  #greet(subscriber: EventSubscriber, lastId: string | undefined): void {
    const { version, startedAt } = this.#options;
    const hello: AdminEvent = { event: 'hello', data: { version, since: startedAt } };
    const missed = lastId === undefined ? [] : this.#eventsAfter(lastId);
    if (typeof missed === 'string') {
      subscriber.push(this.#format(hello));
      subscriber.push(this.#format({ event: 'reset', data: { reason: missed } }));
      return;
    }
    // `hello` gets the id of the last event before the missed ones, so that the ids on the stream increase.
    subscriber.push(this.#format(hello, this.#seq - missed.length));
    for (const { text } of missed) subscriber.push(text);
  }

  /** Returns the events after an id, or the reason why they are unknown: the gateway has restarted, or the history has a gap. */
  #eventsAfter(id: string): readonly SentEvent[] | 'gap' | 'restart' {
    const [startedAt, generation, seq = Number.NaN] = id.split('-').map((part) => Number.parseInt(part, 36));
    if (startedAt !== this.#options.startedAt) return 'restart';
    if (generation !== this.#generation || Number.isNaN(seq) || seq > this.#seq) return 'gap';
    const missed = this.#history.filter((sent) => sent.seq > seq);
    return missed.length === this.#seq - seq ? missed : 'gap';
  }

  #format({ event, data }: AdminEvent, seq = this.#seq): string {
    const id = [this.#options.startedAt, this.#generation, seq].map((part) => part.toString(36)).join('-');
    return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
  }
}
