import type { Cancellation } from '../../core/lib/cancellation.ts';
import { Payload } from '../../core/lib/payload.ts';
import { Slots } from '../../core/lib/slots.ts';
import { GatewayError } from '../../core/errors.ts';
import { MemoryResultStore } from './memory-result-store.ts';
import type { ReadResultRequest } from './read-result.ts';
import type { PagedResult } from './paged-result.ts';
import type { Database } from '../../core/storage/database.ts';
import { isOversized } from './is-oversized.ts';
import type { EstimateTokens } from './is-oversized.ts';
import type { StoredResult, ResultStore } from './result-store.ts';
import { SharedResultStore } from './shared-result-store.ts';

interface ResultsOptions {
  /** Results with more tokens are truncated; 0 turns truncation off. */
  readonly maxTokens: number;
  /** Whether the JSON texts of results are written in a shorter form. */
  readonly compact?: boolean;
  /** Time for which a result is kept after it was last read. */
  readonly keepMs: number;
  /** The maximum size of all kept results together. */
  readonly maxBytes: number;
  readonly estimate: EstimateTokens;
  /** Maximum duration of one search in a result. */
  readonly findMs?: number;
  readonly now: () => number;
  /** The database that several gateways share; without one, results are kept in memory. */
  readonly database?: (() => Promise<Database>) | undefined;
}

const MAX_RESULTS = 1_000;
/** Results with fewer characters are never compacted; see `compactText`. */
const MIN_COMPACTED = 1_000;
/** The default of `findMs`, longer than any reasonable search takes. */
const FIND_MS = 3_000;
/** Each search uses a thread of its own, so few run at the same time. */
const SEARCH_SLOTS = { width: 2, maxWaiting: 50 };

/**
 * Truncates results that are too long for a model: the caller gets a preview, and reads the stored result in pages.
 *
 * Two other places limit results for other reasons: `limits.resultBytes` rejects a result of any exposure
 * (`policy/guards/validation-guards.ts`), and `code.maxOutput` truncates the output of a script, which is not stored
 * (`exposure/code/format-script-result.ts`).
 */
export class OversizedResults implements Disposable {
  #options: ResultsOptions;
  readonly #memory: MemoryResultStore;
  readonly #shared: SharedResultStore | undefined;
  /**
   * Paged results by stored result. They are cached, because creating one takes as long as parsing the
   * result.
   */
  readonly #pagedResults = new WeakMap<StoredResult, PagedResult>();
  readonly #searchSlots = new Slots(SEARCH_SLOTS);

  constructor(options: ResultsOptions) {
    this.#options = options;
    this.#memory = new MemoryResultStore({ ...options, maxCount: MAX_RESULTS });
    const { database } = options;
    if (database !== undefined) this.#shared = new SharedResultStore({ ...options, database }, this.#memory);
  }

  get #store(): ResultStore {
    return this.#shared ?? this.#memory;
  }

  get isEnabled(): boolean {
    return this.#options.maxTokens > 0;
  }

  /** Applies new limits to future results; stored results keep their expiry until they are read again. */
  adjust(settings: Pick<ResultsOptions, 'maxTokens' | 'compact' | 'keepMs' | 'maxBytes'>): void {
    this.#options = { ...this.#options, ...settings };
    this.#memory.adjust(settings);
    this.#shared?.adjust(settings);
  }

  /** Returns a small payload, possibly compacted. For a large payload, returns a preview that names the call that reads the rest. */
  async truncate(owner: string, payload: Payload): Promise<Payload> {
    const { maxTokens, estimate, keepMs } = this.#options;
    const shown = await this.#compact(payload, true);
    if (maxTokens === 0 || !isOversized(shown, maxTokens, estimate)) return shown;
    const { createPreview } = await import('./result-preview.ts');
    // The stored text contains no tables, because `select` and paging cannot read them.
    const { text } = await this.#compact(payload, false);
    const kept = await this.#store.keep(owner, text);
    // A result that is too large to be stored still gets a preview, without an id.
    const paged = await this.#paged(kept ?? { id: '', text });
    const keptFor = formatDuration(keepMs);
    return createPreview(paged, { id: kept?.id, bytes: Buffer.byteLength(text), keptFor });
  }

  /** Stores a result without showing a preview. Returns its id; undefined if results are not stored, or if it is too large. */
  async keep(owner: string, payload: Payload): Promise<string | undefined> {
    return this.isEnabled ? (await this.#store.keep(owner, payload.text))?.id : undefined;
  }

  /** Returns a stored result, unchanged. */
  async find(owner: string, id: string): Promise<Payload> {
    return Payload.ofText((await this.#stored(owner, id)).text);
  }

  /** Returns a page of a stored result, or the units that match `request.find`. */
  async read(owner: string, request: ReadResultRequest, cancellation: Cancellation): Promise<Payload> {
    const { findInResult, readPage } = await import('./read-result.ts');
    const paged = await this.#paged(await this.#stored(owner, request.id));
    const { findMs = FIND_MS } = this.#options;
    if (request.find === undefined) return readPage(paged, request);
    if (this.#searchSlots.isFull)
      throw new GatewayError(
        'UPSTREAM_BUSY',
        'Too many searches in stored results are running. Try again in a few seconds.',
      );
    return this.#searchSlots.run(
      () => findInResult(paged, request, { cancellation, withinMs: findMs }),
      cancellation,
    );
  }

  [Symbol.dispose](): void {
    this.#memory[Symbol.dispose]();
  }

  async #compact(payload: Payload, tables: boolean): Promise<Payload> {
    if (this.#options.compact !== true || payload.length < MIN_COMPACTED) return payload;
    const { compactResult } = await import('./compact-json.ts');
    return compactResult(payload, { tables });
  }

  async #stored(owner: string, id: string): Promise<StoredResult> {
    const found = await this.#store.find(owner, id);
    if (found.state !== 'kept') throw resultNotFound(id, found.state, this.#options.keepMs);
    return found.result;
  }

  async #paged(result: StoredResult): Promise<PagedResult> {
    const { PagedResult: LoadedPagedResult } = await import('./paged-result.ts');
    let paged = this.#pagedResults.get(result);
    if (paged === undefined) {
      paged = new LoadedPagedResult(result.text, this.#options);
      this.#pagedResults.set(result, paged);
    }
    return paged;
  }
}

function resultNotFound(id: string, state: 'gone' | 'unknown', keepMs: number): GatewayError {
  const quotedId = JSON.stringify(id.slice(0, 60));
  const text =
    state === 'gone'
      ? `The result ${quotedId} is no longer stored: results are removed ${formatDuration(keepMs)} after they were last read, or earlier if too many are stored. Call the tool again.`
      : `There is no result ${quotedId}. Use an id that an earlier result names, or call the tool again.`;
  return new GatewayError('ENTRY_NOT_FOUND', text);
}

function formatDuration(ms: number): string {
  const [amount, unit] = ms < 120_000 ? [ms / 1000, 'second'] : [ms / 60_000, 'minute'];
  const rounded = Math.round(amount);
  return `${rounded} ${unit}${rounded === 1 ? '' : 's'}`;
}
