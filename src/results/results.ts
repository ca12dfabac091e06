import type { Cancellation } from '../lib/cancellation.ts';
import type { Payload } from '../lib/payload.ts';
import { Slots } from '../lib/slots.ts';
import { GatewayError } from '../model/errors.ts';
import { MemoryStore } from './memory-store.ts';
import type { ReadRequest } from './read-result.ts';
import type { Reading } from './reading.ts';
import type { Database } from '../storage/database.ts';
import { isOversized } from './result-cost.ts';
import type { Estimate } from './result-cost.ts';
import type { KeptResult, ResultStore } from './result-store.ts';
import { SharedStore } from './shared-store.ts';

interface ResultsOptions {
  /** 0 keeps nothing. */
  readonly maxTokens: number;
  readonly keepMs: number;
  readonly maxBytes: number;
  readonly estimate: Estimate;
  /** How long one search in a result may take. */
  readonly findMs?: number;
  readonly now: () => number;
  /** Where several gateways keep them together; absent: in memory. */
  readonly database?: (() => Promise<Database>) | undefined;
}

const MAX_COUNT = 1_000;
/** Longer than any honest search takes. */
const FIND_MS = 3_000;
const FINDING = { width: 2, maxWaiting: 50 };

/** Results that are too big for a model: kept whole for the caller that got them, and read in pages. */
export class Results implements Disposable {
  #options: ResultsOptions;
  readonly #memory: MemoryStore;
  readonly #shared: SharedStore | undefined;
  /** As long as the results are kept; making one anew takes as long as parsing the result. */
  readonly #readings = new WeakMap<KeptResult, Reading>();
  readonly #finding = new Slots(FINDING);

  constructor(options: ResultsOptions) {
    this.#options = options;
    this.#memory = new MemoryStore({ ...options, maxCount: MAX_COUNT });
    const { database } = options;
    if (database !== undefined) this.#shared = new SharedStore({ ...options, database }, this.#memory);
  }

  get #store(): ResultStore {
    return this.#shared ?? this.#memory;
  }

  get isOn(): boolean {
    return this.#options.maxTokens > 0;
  }

  /** Other limits from now on; what is kept stays as long as it was to stay. */
  adjust(settings: Pick<ResultsOptions, 'maxTokens' | 'keepMs' | 'maxBytes'>): void {
    this.#options = { ...this.#options, ...settings };
    this.#memory.adjust(settings);
    this.#shared?.adjust(settings);
  }

  /** The result itself if it is small, else its beginning and how to read the rest. */
  async fit(owner: string, payload: Payload): Promise<Payload> {
    const { maxTokens, estimate, keepMs } = this.#options;
    if (maxTokens === 0 || !isOversized(payload, maxTokens, estimate)) return payload;
    const { preview } = await import('./preview.ts');
    const { text } = payload;
    const kept = await this.#store.keep(owner, text);
    const reading = await this.#reading(kept ?? { id: '', text });
    const keptFor = durationOf(keepMs);
    return preview(reading, { id: kept?.id, bytes: Buffer.byteLength(text), keptFor });
  }

  /** A page of a kept result, or what matches in it. */
  async read(owner: string, request: ReadRequest, cancellation: Cancellation): Promise<Payload> {
    const { findInResult, readPage } = await import('./read-result.ts');
    const found = await this.#store.find(owner, request.id);
    if (found.state !== 'kept') throw missing(request.id, found.state, this.#options.keepMs);
    const reading = await this.#reading(found.result);
    const { findMs = FIND_MS } = this.#options;
    if (request.find === undefined) return readPage(reading, request);
    if (this.#finding.isFull)
      throw new GatewayError('UPSTREAM_BUSY', 'Too many searches in kept results; try again in a moment.');
    return this.#finding.run(
      () => findInResult(reading, request, { cancellation, withinMs: findMs }),
      cancellation,
    );
  }

  [Symbol.dispose](): void {
    this.#memory[Symbol.dispose]();
  }

  async #reading(result: KeptResult): Promise<Reading> {
    const { Reading: Made } = await import('./reading.ts');
    let reading = this.#readings.get(result);
    if (reading === undefined) this.#readings.set(result, (reading = new Made(result.text, this.#options)));
    return reading;
  }
}

function missing(id: string, state: 'gone' | 'unknown', keepMs: number): GatewayError {
  const shown = JSON.stringify(id.slice(0, 60));
  const text =
    state === 'gone'
      ? `The result ${shown} is no longer kept: that ends ${durationOf(keepMs)} after the last look, or earlier when there are too many. Call the tool again.`
      : `There is no result ${shown}. Use an id as a cut result names it, or call the tool again.`;
  return new GatewayError('ENTRY_NOT_FOUND', text);
}

function durationOf(ms: number): string {
  const [amount, unit] = ms < 120_000 ? [ms / 1000, 'second'] : [ms / 60_000, 'minute'];
  const rounded = Math.round(amount);
  return `${rounded} ${unit}${rounded === 1 ? '' : 's'}`;
}
