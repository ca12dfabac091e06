import type { AdminEvent } from '../contract/dashboard-contract.ts';
import { EventStream } from './event-stream.ts';

interface Sent {
  readonly seq: number;
  readonly text: string;
}

export interface HubOptions {
  readonly version: string;
  /** When the gateway was started; ids of another start are not ours. */
  readonly since: number;
  /** Begins to tell what changes, until it is disposed of; called when the first reader comes. */
  readonly watch: (emit: (event: AdminEvent) => void) => Disposable;
  readonly lingerMs?: number;
  readonly heartbeatMs?: number;
}

export interface ReaderOptions {
  readonly lastId?: string | undefined;
  /** Asked again and again: whoever signs out hears nothing more. */
  readonly isAllowed: () => boolean;
}

const MAX_KEPT = 2000;
const MAX_KEPT_CHARS = 2 * 1024 * 1024;
const MAX_READERS = 64;
const LINGER_MS = 60_000;
const HEARTBEAT_MS = 15_000;

/** Tells every reader what changes. The last events are kept for a while, so that a reader who comes back misses nothing. */
export class EventHub implements Disposable {
  readonly #options: HubOptions;
  readonly #readers = new Set<EventStream>();
  #kept: Sent[] = [];
  #keptChars = 0;
  #seq = 0;
  /** What was not watched was not kept. */
  #generation = 0;
  #watching: Disposable | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #leaving: NodeJS.Timeout | undefined;

  constructor(options: HubOptions) {
    this.#options = options;
  }

  open({ lastId, isAllowed }: ReaderOptions): ReadableStream<Uint8Array> {
    const [oldest] = this.#readers;
    if (this.#readers.size >= MAX_READERS) oldest?.end();
    clearTimeout(this.#leaving);
    if (this.#watching === undefined) this.#start();
    const reader = new EventStream({
      isAllowed,
      slow: () => this.#text({ event: 'reset', data: { reason: 'slow' } }),
      onEnd: () => this.#left(reader),
    });
    this.#readers.add(reader);
    this.#greet(reader, lastId);
    return reader.stream;
  }

  emit(event: AdminEvent): void {
    if (this.#watching === undefined) return;
    this.#seq++;
    const text = this.#text(event);
    this.#kept.push({ seq: this.#seq, text });
    this.#keptChars += text.length;
    while (this.#kept.length > MAX_KEPT || this.#keptChars > MAX_KEPT_CHARS)
      this.#keptChars -= this.#kept.shift()?.text.length ?? 0;
    for (const reader of this.#readers) reader.push(text);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#leaving);
    this.#stop();
    for (const reader of this.#readers) reader.end();
  }

  #start(): void {
    this.#generation++;
    this.#watching = this.#options.watch((event) => this.emit(event));
    const beat = (): void => {
      for (const reader of this.#readers) reader.beat();
    };
    this.#heartbeat = setInterval(beat, this.#options.heartbeatMs ?? HEARTBEAT_MS).unref();
  }

  #stop(): void {
    clearInterval(this.#heartbeat);
    this.#watching?.[Symbol.dispose]();
    this.#watching = undefined;
    this.#kept = [];
    this.#keptChars = 0;
  }

  #left(reader: EventStream): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0 || this.#watching === undefined) return;
    clearTimeout(this.#leaving);
    this.#leaving = setTimeout(() => this.#stop(), this.#options.lingerMs ?? LINGER_MS).unref();
  }

  #greet(reader: EventStream, lastId: string | undefined): void {
    const { version, since } = this.#options;
    const missed = lastId === undefined ? [] : this.#missedSince(lastId);
    // In this order: whoever counts ids has the greeting before what it missed.
    if (typeof missed === 'string') {
      reader.push(this.#text({ event: 'hello', data: { version, since } }));
      reader.push(this.#text({ event: 'reset', data: { reason: missed } }));
      return;
    }
    reader.push(this.#text({ event: 'hello', data: { version, since } }, this.#seq - missed.length));
    for (const { text } of missed) reader.push(text);
  }

  /** What came after an id; why that cannot be said otherwise. */
  #missedSince(id: string): readonly Sent[] | 'gap' | 'restart' {
    const [since, generation, seq] = id.split('-').map((part) => Number.parseInt(part, 36));
    if (since !== this.#options.since) return 'restart';
    if (generation !== this.#generation || seq === undefined || !(seq <= this.#seq)) return 'gap';
    const missed = this.#kept.filter((sent) => sent.seq > seq);
    return missed.length === this.#seq - seq ? missed : 'gap';
  }

  #text({ event, data }: AdminEvent, seq = this.#seq): string {
    const id = [this.#options.since, this.#generation, seq].map((part) => part.toString(36)).join('-');
    return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
  }
}
