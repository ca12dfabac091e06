import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CatalogView } from '../gateway/catalog-view.ts';
import { stringifyExact } from '../core/lib/exact-json.ts';
import type { Payload } from '../core/lib/payload.ts';
import type { ToolEntry } from '../core/entry.ts';
import { directExposure } from './direct-exposure.ts';
import type { Exposure, ExposureContext } from './exposure.ts';
import { toListedTool } from './to-listed-tool.ts';
import { estimateTokens } from './estimate-tokens.ts';

/** Estimated tokens, and the number of lists and searches that used them. */
export interface ToolListTokens {
  /** Tokens that listing every tool in full would have cost, for each list that was sent and for each client that searched without a list. */
  readonly whole: number;
  /** Tokens of the tool lists and instructions that clients received. */
  readonly menu: number;
  /** Tokens of the arguments and answers of `search_tools` and `describe_tools`. */
  readonly search: number;
  readonly lists: number;
  readonly searches: number;
}

interface MeterOptions {
  /** Adds counts to the stored totals; called at most every `saveEveryMs`. */
  readonly save: (counts: ToolListTokens) => Promise<void>;
  readonly saveEveryMs?: number;
}

/** A list of tools that a client received and that is not counted yet. */
interface SentList {
  readonly view: () => CatalogView;
  readonly exposure: Exposure;
  readonly payload: Payload;
  /** How often the servers of the view were checked. */
  checks: number;
}

type Counts = { -readonly [K in keyof ToolListTokens]: ToolListTokens[K] };

const SAVE_EVERY_MS = 30_000;
const CHECK_EVERY_MS = 1000;
/** After this many checks (20 s), a list is counted even if the listing of a server is still missing, because it may never arrive. */
const MAX_CHECKS = 20;
/** The number of tools that are measured before other work gets a turn. */
const TOOLS_PER_SLICE = 50;
/** Longer arguments and answers of searches are estimated from their first characters. */
const SAMPLE_CHARS = 100_000;
/** The maximum number of deferred measurements; further ones are dropped. */
const MAX_DEFERRED = 1000;
const MAX_COUNTED_CLIENTS = 10_000;
const ZERO: ToolListTokens = { whole: 0, menu: 0, search: 0, lists: 0, searches: 0 };
const FINDER_TOOL_NAMES: ReadonlySet<string> = new Set(['search_tools', 'describe_tools']);

/**
 * Counts the tokens that clients receive to learn about tools (lists, instructions, searches), and the tokens
 * that listing all tools would have cost. It measures in the background, and measures each definition only
 * once.
 */
export class TokenMeter implements AsyncDisposable {
  readonly #options: MeterOptions;
  readonly #tools = new WeakMap<ToolEntry, number>();
  readonly #views = new WeakMap<CatalogView, Promise<number>>();
  readonly #payloads = new WeakMap<Payload, number>();
  readonly #meteredExposures = new WeakMap<Exposure, Exposure>();
  readonly #measurements = new Set<Promise<void>>();
  /** The clients for which the cost of a full list was counted. The oldest are forgotten. */
  readonly #countedClients = new Set<string>();
  #counts: Counts = { ...ZERO };
  #saveTimer: NodeJS.Timeout | undefined;
  /** Lists that were sent before every listing had been fetched. */
  readonly #unsettled: SentList[] = [];
  #checkTimer: NodeJS.Timeout | undefined;

  constructor(options: MeterOptions) {
    this.#options = options;
  }

  /**
   * Records a list of tools that a client received. It is counted after every listing has been fetched, because only
   * then are all tools known.
   */
  recordListing(view: () => CatalogView, exposure: Exposure, payload: Payload, owner: string): void {
    this.#isFirst(owner);
    const sent: SentList = { view, exposure, payload, checks: 0 };
    if (isSettled(view())) this.#countList(sent);
    else if (this.#unsettled.length < MAX_DEFERRED) {
      this.#unsettled.push(sent);
      this.#checkTimer ??= setInterval(() => this.#checkUnsettled(), CHECK_EVERY_MS).unref();
    }
  }

  /** Wraps an exposure to count its searches. A direct exposure has none and is returned unchanged. */
  withMetering(exposure: Exposure): Exposure {
    if (exposure.kind === 'direct') return exposure;
    let metered = this.#meteredExposures.get(exposure);
    if (metered === undefined) this.#meteredExposures.set(exposure, (metered = this.#wrap(exposure)));
    return metered;
  }

  /** Saves all counts; resolves when they are stored. */
  async flush(): Promise<void> {
    await Promise.all(this.#measurements);
    clearTimeout(this.#saveTimer);
    this.#saveTimer = undefined;
    const counts = this.#counts;
    if (counts.lists + counts.searches === 0) return;
    this.#counts = { ...ZERO };
    await this.#options.save(counts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#checkTimer);
    for (const sent of this.#unsettled.splice(0)) this.#countList(sent);
    // Best effort: the operation recorder has already logged that nothing can be stored.
    await this.flush().catch(() => {});
  }

  #checkUnsettled(): void {
    for (const sent of this.#unsettled.splice(0)) {
      sent.checks++;
      if (isSettled(sent.view()) || sent.checks >= MAX_CHECKS) this.#countList(sent);
      else this.#unsettled.push(sent);
    }
    if (this.#unsettled.length > 0) return;
    clearInterval(this.#checkTimer);
    this.#checkTimer = undefined;
  }

  #countList({ view: currentView, exposure, payload }: SentList): void {
    this.#defer(async () => {
      const view = currentView();
      const whole = await this.#tokensOfView(view);
      const menu =
        exposure.kind === 'direct'
          ? whole
          : this.#tokensOfPayload(payload) + instructionTokens(exposure, view);
      this.#add({ ...ZERO, whole, menu, lists: 1 });
    });
  }

  #wrap(exposure: Exposure): Exposure {
    return {
      ...exposure,
      callTool: async (name, request, context) => {
        const payload = await exposure.callTool(name, request, context);
        if (FINDER_TOOL_NAMES.has(name)) this.#countSearch(request.params['arguments'], payload, context);
        return payload;
      },
    };
  }

  /**
   * Counts a search. If the client has received no list from this gateway, for example because it kept an earlier list, the cost of a full list
   * is counted with its first search.
   */
  #countSearch(args: unknown, answer: Payload, { listOwner, view }: ExposureContext): void {
    const isFirst = this.#isFirst(listOwner);
    this.#defer(async () => {
      await nextTurn();
      const search = estimateFromSample(stringifyExact(args ?? {})) + estimateFromSample(answer.text);
      this.#add({ ...ZERO, whole: isFirst ? await this.#tokensOfView(view) : 0, search, searches: 1 });
    });
  }

  /** Returns whether the client is counted for the first time. */
  #isFirst(owner: string): boolean {
    if (this.#countedClients.has(owner)) return false;
    this.#countedClients.add(owner);
    const [oldest] = this.#countedClients;
    if (this.#countedClients.size > MAX_COUNTED_CLIENTS && oldest !== undefined)
      this.#countedClients.delete(oldest);
    return true;
  }

  #defer(measure: () => Promise<void>): void {
    if (this.#measurements.size >= MAX_DEFERRED) return;
    // Best effort: a definition that cannot be serialized could not be listed either.
    const measurement = measure()
      .catch(() => {})
      .finally(() => this.#measurements.delete(measurement));
    this.#measurements.add(measurement);
  }

  #add(counts: ToolListTokens): void {
    // `ZERO` has exactly the members of `ToolListTokens`.
    for (const key of Object.keys(ZERO) as (keyof ToolListTokens)[]) this.#counts[key] += counts[key];
    this.#saveTimer ??= setTimeout(() => {
      // Best effort: counts that cannot be stored are lost.
      this.flush().catch(() => {});
    }, this.#options.saveEveryMs ?? SAVE_EVERY_MS).unref();
  }

  #tokensOfView(view: CatalogView): Promise<number> {
    let tokens = this.#views.get(view);
    if (tokens === undefined) this.#views.set(view, (tokens = this.#measureView(view)));
    return tokens;
  }

  async #measureView(view: CatalogView): Promise<number> {
    let sum = instructionTokens(directExposure, view);
    for (let from = 0; from < view.tools.length; from += TOOLS_PER_SLICE) {
      await nextTurn();
      for (const entry of view.tools.slice(from, from + TOOLS_PER_SLICE))
        sum += this.#tokensOfTool(entry, view);
    }
    return sum;
  }

  #tokensOfTool(entry: ToolEntry, view: CatalogView): number {
    let tokens = this.#tools.get(entry);
    if (tokens === undefined)
      this.#tools.set(entry, (tokens = estimateTokens(stringifyExact(toListedTool(entry, view)))));
    return tokens;
  }

  #tokensOfPayload(payload: Payload): number {
    let tokens = this.#payloads.get(payload);
    if (tokens === undefined) this.#payloads.set(payload, (tokens = estimateTokens(payload.text)));
    return tokens;
  }
}

/** Estimates the tokens of a text of any length from its beginning, because measuring 8 MB would take 40 ms. */
function estimateFromSample(text: string): number {
  if (text.length <= SAMPLE_CHARS) return estimateTokens(text);
  return Math.round(estimateTokens(text.slice(0, SAMPLE_CHARS)) * (text.length / SAMPLE_CHARS));
}

function isSettled({ servers }: CatalogView): boolean {
  return servers.every(({ facts }) => facts !== undefined);
}

function instructionTokens(exposure: Exposure, view: CatalogView): number {
  return estimateTokens(exposure.instructions(view));
}
