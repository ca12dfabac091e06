import type { JsonObject } from '../../model/json.ts';
import type { Hit } from '../search-index.ts';
import { isExact } from '../rank.ts';
import { toolText } from '../tool-text.ts';
import { NoAnswer, ask } from './ask.ts';
import { ENDPOINT_KINDS } from './endpoint.ts';

export interface RerankOptions {
  readonly kind: keyof typeof ENDPOINT_KINDS;
  /** Without the path that belongs to the kind. */
  readonly url: string;
  readonly model: string;
  readonly timeoutMs: number;
  /** How many of the best hits are put into order. */
  readonly top: number;
  /** Further members of what is sent, which win. */
  readonly body: JsonObject;
}

interface RerankDeps {
  /** The key, revealed at the moment of use; undefined if there is none. */
  readonly key: () => Promise<string | undefined>;
  readonly onProblem: (reason: string) => void;
  readonly now: () => number;
}

export interface RerankStatus {
  readonly state: 'unused' | 'working' | 'failing';
  readonly asked: number;
  readonly answeredFromCache: number;
  readonly failed: number;
  /** Of the last failure, unless it worked since. */
  readonly problem?: string;
  /** When the endpoint is asked again, where it failed too often to be asked each time. */
  readonly retryAt?: number;
}

const MAX_CACHED = 500;
const MAX_IN_FLIGHT = 8;
const MAX_QUERY = 2_000;
const MAX_TEXT = 300;
/** After so many failures in a row nobody waits for the endpoint for a while. */
const FAILURES_UNTIL_PAUSE = 3;
const PAUSE_MS = 30_000;

/** Asks a model which of the best hits fit. Whatever goes wrong, the hits stay as they are. */
export class Reranker {
  readonly #options: RerankOptions;
  readonly #deps: RerankDeps;
  /** Names in order, by catalog and query; those asked for last at the end. */
  readonly #cache = new Map<string, readonly string[]>();
  readonly #asking = new Map<string, Promise<readonly string[] | undefined>>();
  #asked = 0;
  #cached = 0;
  #failed = 0;
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
   * The same hits, of which the first `top` are in the endpoint's order; undefined if it gave none. What an answer leaves out
   * or invents changes nothing but the order, and an exact name stays in front. `catalog` is equal while the tools are.
   */
  async order(
    query: string,
    hits: readonly Hit[],
    { catalog }: { readonly catalog: string },
  ): Promise<readonly Hit[] | undefined> {
    const exact = hits.filter(isExact).length;
    const candidates = hits.slice(exact, this.#options.top);
    if (candidates.length < 2) return hits;
    const normalised = query
      .slice(0, MAX_QUERY)
      .normalize('NFKC')
      .toLowerCase()
      .replaceAll(/\s+/g, ' ')
      .trim();
    const key = `${catalog}\n${normalised}`;
    const names = this.#remembered(key) ?? (await this.#ask(key, normalised, candidates));
    if (names === undefined) return undefined;
    const places = new Map(names.map((name, at) => [name, at]));
    const placeOf = ({ entry }: Hit): number => places.get(entry.name) ?? Infinity;
    const ordered = candidates.toSorted((one, other) => {
      const [a, b] = [placeOf(one), placeOf(other)];
      return a === b ? 0 : a - b;
    });
    // Scores go with the places, so that they still fall.
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
      answeredFromCache: this.#cached,
      failed: this.#failed,
      ...(this.#problem !== undefined && { problem: this.#problem }),
      ...(this.#pausedUntil > now() && { retryAt: this.#pausedUntil }),
    };
  }

  #remembered(key: string): readonly string[] | undefined {
    const names = this.#cache.get(key);
    if (names === undefined) return undefined;
    this.#cached += 1;
    this.#cache.delete(key);
    this.#cache.set(key, names);
    return names;
  }

  /** Whoever asks the same while it is being asked waits for the same answer. */
  async #ask(key: string, query: string, hits: readonly Hit[]): Promise<readonly string[] | undefined> {
    let asking = this.#asking.get(key);
    if (asking === undefined) {
      if (this.#asking.size >= MAX_IN_FLIGHT || this.#deps.now() < this.#pausedUntil) return undefined;
      asking = this.#names(query, hits).then(
        (names) => this.#succeeded(key, names),
        (error: unknown) => this.#fail(error),
      );
      this.#asking.set(key, asking);
      void asking.finally(() => this.#asking.delete(key));
    }
    return asking;
  }

  async #names(query: string, hits: readonly Hit[]): Promise<readonly string[]> {
    this.#asked += 1;
    const { kind, url, model, timeoutMs, body } = this.#options;
    const endpoint = ENDPOINT_KINDS[kind];
    const texts = hits.map(({ entry }) => {
      const { title, description } = toolText(entry);
      return `${entry.name}: ${description === '' ? title : description}`.slice(0, MAX_TEXT);
    });
    const request = endpoint.request({ query, texts }, { url, model, key: await this.#deps.key() });
    const answer = await ask({ ...request, body: { ...request.body, ...body } }, timeoutMs);
    const places = endpoint.read(answer);
    const names = (places ?? []).flatMap((place) => {
      const hit = typeof place === 'number' && Number.isInteger(place) ? hits[place] : undefined;
      return hit === undefined ? [] : [hit.entry.name];
    });
    if (names.length === 0) throw new NoAnswer('its answer names no tool that it was asked about');
    return [...new Set(names)];
  }

  #succeeded(key: string, names: readonly string[]): readonly string[] {
    this.#failures = 0;
    this.#problem = undefined;
    this.#cache.set(key, names);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > MAX_CACHED && oldest !== undefined) this.#cache.delete(oldest);
    return names;
  }

  #fail(error: unknown): undefined {
    const { onProblem, now } = this.#deps;
    const reason = error instanceof Error ? error.message : String(error);
    this.#failed += 1;
    this.#failures += 1;
    if (this.#failures >= FAILURES_UNTIL_PAUSE) this.#pausedUntil = now() + PAUSE_MS;
    // One line for a failure that lasts.
    if (reason !== this.#problem) onProblem(reason);
    this.#problem = reason;
    return undefined;
  }
}
