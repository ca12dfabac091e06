import type { JsonObject } from '../../../core/json.ts';
import type { SearchHit } from '../search-index.ts';
import { isExactMatch } from '../rank-tools.ts';
import { toolText } from '../tool-text.ts';
import { EndpointError, postJson } from './post-json.ts';
import { ENDPOINT_KINDS } from './endpoint.ts';

export interface RerankOptions {
  readonly kind: keyof typeof ENDPOINT_KINDS;
  /** The base URL without the path that depends on the kind. */
  readonly url: string;
  readonly model: string;
  readonly timeoutMs: number;
  /** The number of best hits that are reordered. */
  readonly top: number;
  /** Additional members of the request body, which override ours. */
  readonly body: JsonObject;
}

interface RerankDeps {
  /** Returns the API key, which is decrypted at the time of use; undefined if there is none. */
  readonly key: () => Promise<string | undefined>;
  readonly onProblem: (reason: string) => void;
  readonly now: () => number;
}

export interface RerankStatus {
  readonly state: 'unused' | 'working' | 'failing';
  /** The number of requests to the endpoint. */
  readonly asked: number;
  readonly answeredFromCache: number;
  readonly failed: number;
  /** The reason for the last failure, unless a later request succeeded. */
  readonly problem?: string | undefined;
  /** When the endpoint is tried again after too many failures, in milliseconds since the epoch. */
  readonly retryAt?: number | undefined;
}

const MAX_CACHED = 500;
/** Searches beyond this number of concurrent requests are not reordered. */
const MAX_IN_FLIGHT = 8;
/** The maximum length of a query, in characters. */
const MAX_QUERY = 2_000;
/** The maximum length of the text about one tool, in characters. */
const MAX_TEXT = 300;
/** After this many failures in a row, the endpoint is not used for `PAUSE_MS`. */
const FAILURES_UNTIL_PAUSE = 3;
const PAUSE_MS = 30_000;

/** Reorders the best hits with a model. If anything fails, the hits keep their order. */
export class Reranker {
  readonly #options: RerankOptions;
  readonly #deps: RerankDeps;
  /** The ordered tool names for each catalog and query. The least recently used order comes first. */
  readonly #cache = new Map<string, readonly string[]>();
  readonly #inFlight = new Map<string, Promise<readonly string[] | undefined>>();
  #asked = 0;
  #cacheHits = 0;
  #failed = 0;
  /** The number of failures since the last success. */
  #failures = 0;
  #problem: string | undefined;
  #pausedUntil = 0;

  constructor(options: RerankOptions, deps: RerankDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  get top(): number {
    return this.#options.top;
  }

  /**
   * Returns the same hits, with the first `top` in the endpoint's order; undefined if the endpoint gave no order. Tools that its answer
   * omits come last, invented ones are ignored, and exact names stay first. `catalog` identifies the set of tools.
   */
  async order(
    query: string,
    hits: readonly SearchHit[],
    { catalog }: { readonly catalog: string },
  ): Promise<readonly SearchHit[] | undefined> {
    // Exact matches have the highest scores, so they are the first hits.
    const exact = hits.filter(isExactMatch).length;
    const candidates = hits.slice(exact, this.#options.top);
    if (candidates.length < 2) return hits;
    const normalised = query
      .slice(0, MAX_QUERY)
      .normalize('NFKC')
      .toLowerCase()
      .replaceAll(/\s+/g, ' ')
      .trim();
    const key = `${catalog}\n${normalised}`;
    const names = this.#fromCache(key) ?? (await this.#request(key, normalised, candidates));
    if (names === undefined) return undefined;
    const positions = new Map(names.map((name, at) => [name, at]));
    const positionOf = ({ entry }: SearchHit): number => positions.get(entry.name) ?? Infinity;
    const ordered = candidates.toSorted((one, other) => {
      const [a, b] = [positionOf(one), positionOf(other)];
      // The difference of two infinities would be NaN.
      return a === b ? 0 : a - b;
    });
    // Only the entries move; the scores stay in place, so they still never increase from one hit to the next.
    return hits.map((hit, at) => {
      const moved = ordered[at - exact];
      return at < exact || moved === undefined ? hit : { ...moved, score: hit.score };
    });
  }

  status(): RerankStatus {
    const { now } = this.#deps;
    return {
      state: this.#problem !== undefined ? 'failing' : this.#asked === 0 ? 'unused' : 'working',
      asked: this.#asked,
      answeredFromCache: this.#cacheHits,
      failed: this.#failed,
      problem: this.#problem,
      retryAt: this.#pausedUntil > now() ? this.#pausedUntil : undefined,
    };
  }

  #fromCache(key: string): readonly string[] | undefined {
    const names = this.#cache.get(key);
    if (names === undefined) return undefined;
    this.#cacheHits += 1;
    this.#cache.delete(key);
    this.#cache.set(key, names);
    return names;
  }

  /** Concurrent requests for the same query share one answer. */
  async #request(
    key: string,
    query: string,
    hits: readonly SearchHit[],
  ): Promise<readonly string[] | undefined> {
    let pending = this.#inFlight.get(key);
    if (pending === undefined) {
      if (this.#inFlight.size >= MAX_IN_FLIGHT || this.#deps.now() < this.#pausedUntil) return undefined;
      pending = this.#requestOrder(query, hits).then(
        (names) => this.#onSuccess(key, names),
        (error: unknown) => this.#onFailure(error),
      );
      this.#inFlight.set(key, pending);
      void pending.finally(() => this.#inFlight.delete(key));
    }
    return pending;
  }

  async #requestOrder(query: string, hits: readonly SearchHit[]): Promise<readonly string[]> {
    this.#asked += 1;
    const { kind, url, model, timeoutMs, body } = this.#options;
    const endpoint = ENDPOINT_KINDS[kind];
    const texts = hits.map(({ entry }) => {
      const { title, description } = toolText(entry);
      return `${entry.name}: ${description === '' ? title : description}`.slice(0, MAX_TEXT);
    });
    const request = endpoint.request({ query, texts }, { url, model, key: await this.#deps.key() });
    const answer = await postJson({ ...request, body: { ...request.body, ...body } }, timeoutMs);
    const positions = endpoint.read(answer);
    const names = (positions ?? []).flatMap((position) => {
      const hit = typeof position === 'number' && Number.isInteger(position) ? hits[position] : undefined;
      return hit === undefined ? [] : [hit.entry.name];
    });
    if (names.length === 0) throw new EndpointError('its answer names none of the given tools');
    return [...new Set(names)];
  }

  #onSuccess(key: string, names: readonly string[]): readonly string[] {
    this.#failures = 0;
    this.#problem = undefined;
    this.#cache.set(key, names);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > MAX_CACHED && oldest !== undefined) this.#cache.delete(oldest);
    return names;
  }

  #onFailure(error: unknown): undefined {
    const { onProblem, now } = this.#deps;
    const reason = error instanceof Error ? error.message : String(error);
    this.#failed += 1;
    this.#failures += 1;
    if (this.#failures >= FAILURES_UNTIL_PAUSE) this.#pausedUntil = now() + PAUSE_MS;
    // A failure that persists is reported once.
    if (reason !== this.#problem) onProblem(reason);
    this.#problem = reason;
    return undefined;
  }
}
