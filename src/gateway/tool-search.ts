import { readFile } from 'node:fs/promises';
import type { Catalog } from '../catalog/catalog.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { GatewayConfig, SearchConfig, UpstreamConfig } from '../config/config.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { inSlices } from '../lib/in-slices.ts';
import type { Sliced } from '../lib/in-slices.ts';
import type { Caller } from '../model/caller.ts';
import type { ToolEntry } from '../model/entry.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { Logger } from '../observe/log.ts';
import type { RerankStatus, Reranker } from '../search/rerank/reranker.ts';
import type { Hit, IndexOptions, SearchIndex } from '../search/search-index.ts';
import { RecentTools } from '../search/usage/recent-tools.ts';
import type { WordVectors } from '../search/word-vectors.ts';
import type { View } from './view.ts';

export interface FindOptions {
  readonly limit: number;
  /** Only tools of this upstream. */
  readonly server?: string;
  /** Whose recent use counts; nobody's without. */
  readonly caller?: Caller['id'];
  /** Asked for each hit that would be taken; has no influence on the order. */
  readonly allow?: (entry: ToolEntry) => boolean;
}

export type Find = (snapshot: Snapshot, query: string, options: FindOptions) => Promise<readonly Hit[]>;

export interface SearchStatus {
  readonly index: 'unused' | 'building' | 'ready';
  /** Of the newest index. */
  readonly tools: number;
  readonly buildMs?: number;
  readonly rerank?: RerankStatus;
}

interface ToolSearchDeps {
  readonly upstreams: readonly UpstreamConfig[];
  readonly config: SearchConfig;
  /** The file of word vectors; without it only words count. */
  readonly vectors?: URL;
  readonly catalog: Pick<Catalog, 'current' | 'events'>;
  /** Reveals a text of the configuration. */
  readonly reveal?: (text: string) => Promise<string>;
  readonly log: Logger;
  readonly now: () => number;
}

/** With fewer tools the first search can make its index itself, and an idle gateway is the smaller for it. */
const AHEAD_FROM = 1_000;
/** How long nothing may have changed until the index is made ahead of the first search. */
const QUIET_MS = 300;
const SLICE_MS = 5;
const PAUSE_MS = 2;
/** So many searches are made before anybody searches, since the first ones of a process are slow. */
const REHEARSALS = 12;
/** Views of callers that are kept for one view of all. */
const MAX_REMEMBERING = 500;

/**
 * One index per snapshot, made from the one before: in the background once a client was shown a search, else when somebody
 * searches. Nothing is loaded until then.
 */
export class ToolSearch implements Disposable {
  readonly #deps: ToolSearchDeps;
  #described: ReadonlyMap<UpstreamName, string | undefined>;
  #config: SearchConfig;
  #indexes = new WeakMap<Snapshot, SearchIndex>();
  readonly #recent = new RecentTools();
  readonly #remembering = new WeakMap<View, Map<string, View>>();
  #newest: SearchIndex | undefined;
  #building: { readonly snapshot: Snapshot; readonly work: Sliced<SearchIndex> } | undefined;
  #loading: ReturnType<typeof load> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #buildMs: number | undefined;
  #isWanted = false;
  #isStopped = false;
  #reranker: Reranker | undefined;

  constructor(deps: ToolSearchDeps) {
    this.#deps = deps;
    this.#described = described(deps.upstreams);
    this.#config = deps.config;
    // A new snapshot matters if anybody searches at all.
    deps.catalog.events.on('changed', () => {
      if (this.#isWanted) this.prepare();
    });
  }

  /** What was made with other words about servers, or for another endpoint, is made anew. */
  apply({ upstreams, search }: Pick<GatewayConfig, 'upstreams' | 'search'>): void {
    this.#described = described(upstreams);
    if (canonicalJson(search.rerank) !== canonicalJson(this.#config.rerank)) {
      this.#loading = undefined;
      this.#reranker = undefined;
    }
    this.#config = search;
    this.#indexes = new WeakMap();
    this.#building?.work.stop();
    this.#building = undefined;
  }

  readonly find: Find = async (snapshot, query, { limit, server, caller, allow = () => true }) => {
    this.#isWanted = true;
    const loaded = await this.#load();
    const index = this.#index(snapshot, loaded);
    const only = server === undefined ? {} : { server };
    const prior = caller === undefined ? undefined : this.#recent.prior(caller);
    const own = (): readonly Hit[] => index.search(query, { limit, allow, ...only, ...(prior && { prior }) });
    const { reranker } = loaded;
    if (reranker === undefined) return own();
    // For everybody alike: who may see what is asked afterwards, and nobody's use counts.
    const hits = index.search(query, { limit: Math.max(reranker.top, limit), allow: () => true, ...only });
    const catalog = `${snapshot.digests.tools} ${server ?? ''}`;
    const ordered = await reranker.order(query, hits, { catalog });
    return ordered === undefined
      ? own()
      : filled(
          ordered.filter(({ entry }) => allow(entry)),
          own,
          limit,
        );
  };

  /** Somebody may search this soon: the index is made as soon as nothing changes for a moment, a little at a time. */
  prepare(): void {
    this.#isWanted = true;
    const snapshot = this.#deps.catalog.current;
    if (this.#newest === undefined && snapshot.tools.size < AHEAD_FROM) return;
    if (this.#isStopped || this.#indexes.has(snapshot) || this.#building?.snapshot === snapshot) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#build(this.#deps.catalog.current), QUIET_MS).unref();
  }

  used(caller: Caller, tool: ToolEntry): void {
    if (this.#config.usage) this.#recent.add(caller.id, tool.name);
  }

  /** The same view, whose searches know what this caller used lately. */
  remembering(view: View, caller: Caller): View {
    if (!this.#recent.has(caller.id)) return view;
    let views = this.#remembering.get(view);
    if (views === undefined || views.size > MAX_REMEMBERING)
      this.#remembering.set(view, (views = new Map<string, View>()));
    let own = views.get(caller.id);
    if (own === undefined) {
      own = { ...view, search: (query, options) => view.search(query, { ...options, caller: caller.id }) };
      views.set(caller.id, own);
    }
    return own;
  }

  status(): SearchStatus {
    const rerank = this.#reranker?.status() ?? (this.#config.rerank && UNASKED);
    return {
      index: this.#building !== undefined ? 'building' : this.#newest === undefined ? 'unused' : 'ready',
      tools: this.#newest?.entries.length ?? 0,
      ...(this.#buildMs !== undefined && { buildMs: this.#buildMs }),
      ...(rerank && { rerank }),
    };
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#building?.work.stop();
  }

  #load(): ReturnType<typeof load> {
    if (this.#loading !== undefined) return this.#loading;
    const loading = load({ ...this.#deps, config: this.#config }).then((loaded) => {
      if (this.#loading === loading) this.#reranker = loaded.reranker;
      return loaded;
    });
    this.#loading = loading;
    return loading;
  }

  #index(snapshot: Snapshot, loaded: Loaded): SearchIndex {
    const known = this.#indexes.get(snapshot);
    if (known !== undefined) return known;
    if (this.#building?.snapshot === snapshot) return this.#keep(snapshot, this.#building.work.finish());
    const from = this.#deps.now();
    const index = loaded.buildIndex(this.#source(snapshot), this.#options(loaded));
    this.#buildMs = this.#deps.now() - from;
    return this.#keep(snapshot, index);
  }

  async #build(snapshot: Snapshot): Promise<void> {
    const loaded = await this.#load();
    if (this.#isStopped || this.#indexes.has(snapshot)) return;
    this.#building?.work.stop();
    const { now, log } = this.#deps;
    const from = now();
    const steps = rehearsed(loaded.indexSteps(this.#source(snapshot), this.#options(loaded)));
    const work = inSlices(steps, { sliceMs: SLICE_MS, pauseMs: PAUSE_MS, now: () => performance.now() });
    this.#building = { snapshot, work };
    try {
      const index = await work.done;
      this.#buildMs = now() - from;
      if (!this.#indexes.has(snapshot)) this.#keep(snapshot, index);
    } catch (error) {
      if (this.#building?.work === work) this.#building = undefined;
      log.warn('Cannot prepare the search.', { reason: String(error) });
    }
  }

  #keep(snapshot: Snapshot, index: SearchIndex): SearchIndex {
    this.#indexes.set(snapshot, index);
    this.#newest = index;
    if (this.#building?.snapshot === snapshot) this.#building = undefined;
    const { analysed, entries } = index;
    this.#deps.log.debug('Made a search index.', { tools: entries.length, analysed, ms: this.#buildMs });
    return index;
  }

  #source({ tools, upstreams }: Snapshot) {
    return { tools, upstreams, describe: (upstream: UpstreamName) => this.#described.get(upstream) };
  }

  #options({ vectors }: Loaded): IndexOptions {
    return { ...(this.#newest && { previous: this.#newest }), vectors };
  }
}

function described(upstreams: readonly UpstreamConfig[]): ReadonlyMap<UpstreamName, string | undefined> {
  return new Map(upstreams.map(({ name, description }) => [name, description]));
}

/** Who may see little of what was ordered gets more behind it. */
function filled(hits: readonly Hit[], further: () => readonly Hit[], limit: number): readonly Hit[] {
  if (hits.length >= limit) return hits.slice(0, limit);
  const known = new Set(hits.map(({ entry }) => entry));
  const most = hits.at(-1)?.score ?? Infinity;
  const rest = further().filter(({ entry }) => !known.has(entry));
  return [...hits, ...rest.map((hit) => ({ ...hit, score: Math.min(hit.score, most) }))].slice(0, limit);
}

/** What runs for the first time is slow: some searches are made that nobody asked for. */
function* rehearsed(steps: Generator<void, SearchIndex>): Generator<void, SearchIndex> {
  const index = yield* steps;
  const step = Math.max(1, Math.ceil(index.entries.length / REHEARSALS));
  for (let at = 0; at < index.entries.length; at += step) {
    yield;
    const description = index.entries[at]?.definition['description'];
    if (typeof description === 'string')
      index.search(description.slice(0, 300), { limit: 5, allow: () => true });
  }
  return index;
}

const UNASKED: RerankStatus = { state: 'unused', asked: 0, answeredFromCache: 0, failed: 0 };

type Loaded = Awaited<ReturnType<typeof load>>;

async function load(deps: ToolSearchDeps) {
  const [{ buildIndex, indexSteps }, { wordVectors }] = await Promise.all([
    import('../search/search-index.ts'),
    import('../search/word-vectors.ts'),
  ]);
  let vectors: WordVectors | undefined;
  try {
    if (deps.vectors !== undefined) vectors = wordVectors(await readFile(deps.vectors));
  } catch (error) {
    deps.log.warn('Cannot read the word vectors; searching by words alone.', { reason: String(error) });
  }
  return { buildIndex, indexSteps, vectors, reranker: await loadReranker(deps) };
}

async function loadReranker({ config, reveal, log, now }: ToolSearchDeps): Promise<Reranker | undefined> {
  const { rerank } = config;
  if (rerank === undefined) return undefined;
  const module = await import('../search/rerank/reranker.ts');
  const { apiKey, ...options } = rerank;
  return new module.Reranker(options, {
    key: async () => (apiKey === undefined || reveal === undefined ? apiKey : reveal(apiKey)),
    onProblem: (reason) =>
      log.warn('The endpoint of search.rerank gives no order; searches keep their own.', { reason }),
    now,
  });
}
