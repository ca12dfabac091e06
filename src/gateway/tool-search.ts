import { readFile } from 'node:fs/promises';
import type { Catalog } from '../catalog/catalog.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { GatewayConfig, SearchConfig, UpstreamConfig } from '../config/config.ts';
import type { Caller } from '../core/caller.ts';
import type { ToolEntry } from '../core/entry.ts';
import type { UpstreamName } from '../core/ids.ts';
import { canonicalJson } from '../core/lib/canonical-json.ts';
import { runInSlices } from '../core/lib/run-in-slices.ts';
import type { SlicedWork } from '../core/lib/run-in-slices.ts';
import type { Logger } from '../observability/log.ts';
import type { RerankStatus, Reranker } from '../catalog/search/rerank/reranker.ts';
import type { SearchHit, IndexOptions, SearchIndex } from '../catalog/search/search-index.ts';
import { RecentTools } from '../catalog/search/recent-tools.ts';
import type { WordVectors } from '../catalog/search/word-vectors.ts';
import type { CatalogView } from './catalog-view.ts';

export interface FindToolsOptions {
  readonly limit: number;
  /** Restricts the search to one upstream. */
  readonly server?: string | undefined;
  /** The caller whose recent tools rank higher. */
  readonly caller?: Caller['id'];
  /** Filters the hits without changing the order of the remaining ones. */
  readonly isAllowed?: (entry: ToolEntry) => boolean;
}

export type FindTools = (
  snapshot: Snapshot,
  query: string,
  options: FindToolsOptions,
) => Promise<readonly SearchHit[]>;

interface ToolSearchStatus {
  readonly index: 'unused' | 'building' | 'ready';
  /** Number of tools in the newest index. */
  readonly tools: number;
  readonly buildMs?: number | undefined;
  readonly rerank?: RerankStatus | undefined;
}

interface ToolSearchDeps {
  readonly upstreams: readonly UpstreamConfig[];
  readonly config: SearchConfig;
  /** The file of word vectors; without it, only equal words match. */
  readonly vectors?: URL;
  readonly catalog: Pick<Catalog, 'current' | 'events'>;
  /** Resolves the secrets in a text of the configuration. */
  readonly resolveSecrets?: (text: string) => Promise<string>;
  readonly log: Logger;
  readonly now: () => number;
}

/** Below this number of tools, the first search builds the index, which saves memory in an idle gateway. */
const MIN_TOOLS_TO_PREPARE = 1_000;
/** The catalog must be unchanged for this time before the index is prepared. */
const QUIET_MS = 300;
/** Time in milliseconds for which a slice of a background build blocks the event loop, and the pause between two slices. */
const SLICE_MS = 5;
const PAUSE_MS = 2;
/** Number of searches that warm up a new index, because the first searches of a process are slow. */
const WARM_UP_SEARCHES = 12;
/** Maximum number of caller-specific views per shared view. If there are more, all of them are discarded. */
const MAX_CALLER_VIEWS = 500;

/**
 * Searches the tools of a snapshot. Each snapshot gets its own index, which reuses parts of the previous one. The index is built in the
 * background once a client was offered the search, otherwise by the first search. The search modules are loaded only then.
 */
export class ToolSearch implements Disposable {
  readonly #deps: ToolSearchDeps;
  #descriptions: ReadonlyMap<UpstreamName, string | undefined>;
  #config: SearchConfig;
  #indexes = new WeakMap<Snapshot, SearchIndex>();
  readonly #recentTools = new RecentTools();
  readonly #callerViews = new WeakMap<CatalogView, Map<string, CatalogView>>();
  /** The base of the next index. It is kept when `#indexes` is discarded. */
  #newestIndex: SearchIndex | undefined;
  #building: { readonly snapshot: Snapshot; readonly work: SlicedWork<SearchIndex> } | undefined;
  #modules: Promise<SearchModules> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Duration of the last build. */
  #buildMs: number | undefined;
  /** Whether a client was offered the search, or has used it. */
  #isOffered = false;
  #isStopped = false;
  #reranker: Reranker | undefined;

  constructor(deps: ToolSearchDeps) {
    this.#deps = deps;
    this.#descriptions = serverDescriptions(deps.upstreams);
    this.#config = deps.config;
    // An index is needed only once a client was offered the search.
    deps.catalog.events.on('changed', () => {
      if (this.#isOffered) this.prepareIndex();
    });
  }

  /** Discards indexes that contain outdated descriptions of servers, and the reranker if its settings have changed. */
  apply({ upstreams, search }: Pick<GatewayConfig, 'upstreams' | 'search'>): void {
    this.#descriptions = serverDescriptions(upstreams);
    if (canonicalJson(search.rerank) !== canonicalJson(this.#config.rerank)) {
      this.#modules = undefined;
      this.#reranker = undefined;
    }
    this.#config = search;
    this.#indexes = new WeakMap();
    this.#building?.work.stop();
    this.#building = undefined;
  }

  readonly find: FindTools = async (snapshot, query, { limit, server, caller, isAllowed = () => true }) => {
    this.#isOffered = true;
    const modules = await this.#load();
    const index = await this.#indexOf(snapshot, modules);
    const prior = caller === undefined ? undefined : this.#recentTools.prior(caller);
    const searchIndex = (): readonly SearchHit[] => index.search(query, { limit, isAllowed, server, prior });
    const { reranker } = modules;
    if (reranker === undefined) return searchIndex();
    // All callers share the reranker's cache, so it receives the same hits for each of them. Hidden tools are removed afterwards.
    const hits = index.search(query, {
      limit: Math.max(reranker.top, limit),
      isAllowed: () => true,
      server,
    });
    const catalog = `${snapshot.digests.tools} ${server ?? ''}`;
    const ordered = await reranker.order(query, hits, { catalog });
    // Without an answer of the reranker, the order of the index is used.
    if (ordered === undefined) return searchIndex();
    return fillUp(
      ordered.filter(({ entry }) => isAllowed(entry)),
      searchIndex,
      limit,
    );
  };

  /**
   * Schedules a background build of the index. It is called when a client was offered the search, and after every later change of the
   * catalog. A change within `QUIET_MS` restarts the wait. A small catalog without an index is left to the first search.
   */
  prepareIndex(): void {
    this.#isOffered = true;
    const snapshot = this.#deps.catalog.current;
    if (this.#newestIndex === undefined && snapshot.tools.size < MIN_TOOLS_TO_PREPARE) return;
    if (this.#isStopped || this.#indexes.has(snapshot) || this.#building?.snapshot === snapshot) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#buildIndex(this.#deps.catalog.current), QUIET_MS).unref();
  }

  recordUse(caller: Caller, tool: ToolEntry): void {
    if (this.#config.usage) this.#recentTools.add(caller.id, tool.name);
  }

  /** Returns the view with a search in which recent tools of the caller rank higher. */
  withUsageOf(view: CatalogView, caller: Caller): CatalogView {
    if (!this.#recentTools.has(caller.id)) return view;
    let views = this.#callerViews.get(view);
    if (views === undefined || views.size > MAX_CALLER_VIEWS)
      this.#callerViews.set(view, (views = new Map<string, CatalogView>()));
    let callerView = views.get(caller.id);
    if (callerView === undefined) {
      callerView = {
        ...view,
        search: (query, options) => view.search(query, { ...options, caller: caller.id }),
      };
      views.set(caller.id, callerView);
    }
    return callerView;
  }

  status(): ToolSearchStatus {
    const rerank = this.#reranker?.status() ?? (this.#config.rerank && UNUSED_RERANKER);
    return {
      index: this.#building !== undefined ? 'building' : this.#newestIndex === undefined ? 'unused' : 'ready',
      tools: this.#newestIndex?.entries.length ?? 0,
      buildMs: this.#buildMs,
      rerank,
    };
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#building?.work.stop();
  }

  #load(): Promise<SearchModules> {
    if (this.#modules !== undefined) return this.#modules;
    const loading = loadModules({ ...this.#deps, config: this.#config }).then((modules) => {
      // A configuration change during the load has discarded these modules.
      if (this.#modules === loading) this.#reranker = modules.reranker;
      return modules;
    });
    this.#modules = loading;
    return loading;
  }

  /** Returns the index of a snapshot. A background build of this index is completed without further pauses. */
  async #indexOf(snapshot: Snapshot, modules: SearchModules): Promise<SearchIndex> {
    const known = this.#indexes.get(snapshot);
    if (known !== undefined) return known;
    if (this.#building?.snapshot === snapshot) return this.#building.work.finish();
    return this.#startBuild(snapshot, modules.indexSteps, modules).finish();
  }

  async #buildIndex(snapshot: Snapshot): Promise<void> {
    const modules = await this.#load();
    if (this.#isStopped || this.#indexes.has(snapshot)) return;
    try {
      await this.#startBuild(snapshot, (...args) => warmUp(modules.indexSteps(...args)), modules).done;
    } catch (error) {
      const reason = String(error);
      this.#deps.log.warn('Cannot prepare the search index; the next search builds it.', { reason });
    }
  }

  /** Starts to build an index, which is stored unless another build or configuration has replaced it. */
  #startBuild(
    snapshot: Snapshot,
    steps: SearchModules['indexSteps'],
    modules: SearchModules,
  ): SlicedWork<SearchIndex> {
    this.#building?.work.stop();
    const { now } = this.#deps;
    const startedAt = now();
    const work = runInSlices(steps(this.#indexSource(snapshot), this.#indexOptions(modules)), {
      sliceMs: SLICE_MS,
      pauseMs: PAUSE_MS,
      now: () => performance.now(),
    });
    this.#building = { snapshot, work };
    const onEnd = (index?: SearchIndex): void => {
      if (this.#building?.work !== work) return;
      this.#building = undefined;
      if (index === undefined) return; // The code that awaits `work` handles the error.
      this.#buildMs = now() - startedAt;
      this.#storeIndex(snapshot, index);
    };
    work.done.then(onEnd, () => onEnd());
    return work;
  }

  #storeIndex(snapshot: Snapshot, index: SearchIndex): void {
    this.#indexes.set(snapshot, index);
    this.#newestIndex = index;
    const { analysed, entries } = index;
    this.#deps.log.debug('Built a search index.', { tools: entries.length, analysed, ms: this.#buildMs });
  }

  #indexSource({ tools, upstreams }: Snapshot) {
    return { tools, upstreams, describe: (upstream: UpstreamName) => this.#descriptions.get(upstream) };
  }

  #indexOptions({ vectors }: SearchModules): IndexOptions {
    return { previous: this.#newestIndex, vectors };
  }
}

function serverDescriptions(
  upstreams: readonly UpstreamConfig[],
): ReadonlyMap<UpstreamName, string | undefined> {
  return new Map(upstreams.map(({ name, description }) => [name, description]));
}

/**
 * Appends hits of the index if the caller may see fewer reranked hits than it asked for. No appended hit gets a higher score than the
 * last reranked hit, so that scores never increase along the list.
 */
function fillUp(
  hits: readonly SearchHit[],
  searchIndex: () => readonly SearchHit[],
  limit: number,
): readonly SearchHit[] {
  if (hits.length >= limit) return hits.slice(0, limit);
  const included = new Set(hits.map(({ entry }) => entry));
  const lowestScore = hits.at(-1)?.score ?? Infinity;
  const others = searchIndex().filter(({ entry }) => !included.has(entry));
  return [...hits, ...others.map((hit) => ({ ...hit, score: Math.min(hit.score, lowestScore) }))].slice(
    0,
    limit,
  );
}

/** Runs about `WARM_UP_SEARCHES` searches after the last build step, because code that runs for the first time is slow. */
function* warmUp(steps: Generator<void, SearchIndex>): Generator<void, SearchIndex> {
  const index = yield* steps;
  const stride = Math.max(1, Math.ceil(index.entries.length / WARM_UP_SEARCHES));
  for (let position = 0; position < index.entries.length; position += stride) {
    yield;
    const description = index.entries[position]?.definition['description'];
    if (typeof description === 'string')
      index.search(description.slice(0, 300), { limit: 5, isAllowed: () => true });
  }
  return index;
}

const UNUSED_RERANKER: RerankStatus = { state: 'unused', asked: 0, answeredFromCache: 0, failed: 0 };

type SearchModules = Awaited<ReturnType<typeof loadModules>>;

async function loadModules(deps: ToolSearchDeps) {
  const [{ indexSteps }, { readWordVectors }] = await Promise.all([
    import('../catalog/search/search-index.ts'),
    import('../catalog/search/word-vectors.ts'),
  ]);
  let vectors: WordVectors | undefined;
  try {
    if (deps.vectors !== undefined) vectors = readWordVectors(await readFile(deps.vectors));
  } catch (error) {
    deps.log.warn('Cannot read the word vectors; the search matches equal words only.', {
      reason: String(error),
    });
  }
  return { indexSteps, vectors, reranker: await loadReranker(deps) };
}

async function loadReranker({
  config,
  resolveSecrets,
  log,
  now,
}: ToolSearchDeps): Promise<Reranker | undefined> {
  const { rerank } = config;
  if (rerank === undefined) return undefined;
  const module = await import('../catalog/search/rerank/reranker.ts');
  const { apiKey, ...options } = rerank;
  return new module.Reranker(options, {
    key: async () => (apiKey === undefined || resolveSecrets === undefined ? apiKey : resolveSecrets(apiKey)),
    onProblem: (reason) =>
      log.warn('The endpoint of search.rerank failed; searches keep their own order.', { reason }),
    now,
  });
}
