import { setImmediate as later } from 'node:timers/promises';
import type { View } from '../gateway/view.ts';
import { stringifyExact } from '../lib/exact-json.ts';
import type { Payload } from '../lib/payload.ts';
import type { ToolEntry } from '../model/entry.ts';
import { direct } from './direct.ts';
import type { Exposure } from './exposure.ts';
import { listedTool } from './listed-tool.ts';
import { estimateTokens } from './tokens.ts';

/** Tokens, estimated, and how often something was sent. */
export interface MenuTokens {
  /** What listing every tool in full would have cost. */
  readonly whole: number;
  readonly menu: number;
  readonly search: number;
  readonly lists: number;
  readonly searches: number;
}

interface MeterOptions {
  /** Adds to what is stored; called seldom. */
  readonly save: (counts: MenuTokens) => Promise<void>;
  readonly saveEveryMs?: number;
}

interface Sent {
  readonly view: () => View;
  readonly exposure: Exposure;
  readonly payload: Payload;
  looks: number;
}

type Counts = { -readonly [K in keyof MenuTokens]: MenuTokens[K] };

const SAVE_EVERY_MS = 30_000;
const LOOK_EVERY_MS = 1000;
/** A server that was not listed by then may never be. */
const MAX_LOOKS = 20;
/** Tools that are measured at once, while others wait. */
const SLICE = 50;
/** Work that is put off; when more comes, it is left out. */
const MAX_WAITING = 1000;
const NONE: MenuTokens = { whole: 0, menu: 0, search: 0, lists: 0, searches: 0 };
const FINDING: ReadonlySet<string> = new Set(['search_tools', 'describe_tools']);

/**
 * Counts what clients are sent to know the tools, and what all of them would have cost: lists with what is said about them, and
 * questions and answers of searching. It measures when nobody waits, and each definition once.
 */
export class TokenMeter implements AsyncDisposable {
  readonly #options: MeterOptions;
  readonly #tools = new WeakMap<ToolEntry, number>();
  readonly #views = new WeakMap<View, Promise<number>>();
  readonly #payloads = new WeakMap<Payload, number>();
  readonly #metered = new WeakMap<Exposure, Exposure>();
  readonly #working = new Set<Promise<void>>();
  #counts: Counts = { ...NONE };
  #timer: NodeJS.Timeout | undefined;
  readonly #unsettled: Sent[] = [];
  #looking: NodeJS.Timeout | undefined;

  constructor(options: MeterOptions) {
    this.#options = options;
  }

  /** A client was sent its list of tools. What all of them would cost is known when every server was listed, which may be later. */
  listed(view: () => View, exposure: Exposure, payload: Payload): void {
    const sent: Sent = { view, exposure, payload, looks: 0 };
    if (isSettled(view())) this.#count(sent);
    else if (this.#unsettled.length < MAX_WAITING) {
      this.#unsettled.push(sent);
      this.#looking ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    }
  }

  /** The same exposure, of which searches are counted. Where every tool is listed there are none, and nothing is in between. */
  metered(exposure: Exposure): Exposure {
    if (exposure.kind === 'direct') return exposure;
    let same = this.#metered.get(exposure);
    if (same === undefined) this.#metered.set(exposure, (same = this.#counting(exposure)));
    return same;
  }

  /** Resolves when everything that was counted is stored. */
  async saved(): Promise<void> {
    await Promise.all(this.#working);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const counts = this.#counts;
    if (counts.lists + counts.searches === 0) return;
    this.#counts = { ...NONE };
    await this.#options.save(counts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#looking);
    for (const sent of this.#unsettled.splice(0)) this.#count(sent);
    // Best effort: whoever records operations has said that nothing can be stored.
    await this.saved().catch(() => {});
  }

  #look(): void {
    for (const sent of this.#unsettled.splice(0)) {
      sent.looks++;
      if (isSettled(sent.view()) || sent.looks >= MAX_LOOKS) this.#count(sent);
      else this.#unsettled.push(sent);
    }
    if (this.#unsettled.length > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  #count({ view: current, exposure, payload }: Sent): void {
    this.#work(async () => {
      const view = current();
      const whole = await this.#wholeOf(view);
      const menu = exposure.kind === 'direct' ? whole : this.#ofPayload(payload) + said(exposure, view);
      this.#add({ ...NONE, whole, menu, lists: 1 });
    });
  }

  #counting(exposure: Exposure): Exposure {
    return {
      ...exposure,
      callTool: async (name, request, context) => {
        const payload = await exposure.callTool(name, request, context);
        if (FINDING.has(name)) this.#searched(request.params['arguments'], payload);
        return payload;
      },
    };
  }

  #searched(question: unknown, answer: Payload): void {
    this.#work(async () => {
      await later();
      const search = estimateTokens(stringifyExact(question ?? {})) + estimateTokens(answer.text);
      this.#add({ ...NONE, search, searches: 1 });
    });
  }

  #work(work: () => Promise<void>): void {
    if (this.#working.size >= MAX_WAITING) return;
    // Best effort: a definition that cannot be written could not be listed either.
    const working = work()
      .catch(() => {})
      .finally(() => this.#working.delete(working));
    this.#working.add(working);
  }

  #add(counts: MenuTokens): void {
    // Always the same members.
    for (const key of Object.keys(NONE) as (keyof MenuTokens)[]) this.#counts[key] += counts[key];
    this.#timer ??= setTimeout(() => {
      // Best effort: what cannot be stored is not counted.
      this.saved().catch(() => {});
    }, this.#options.saveEveryMs ?? SAVE_EVERY_MS).unref();
  }

  #wholeOf(view: View): Promise<number> {
    let whole = this.#views.get(view);
    if (whole === undefined) this.#views.set(view, (whole = this.#measured(view)));
    return whole;
  }

  async #measured(view: View): Promise<number> {
    let sum = said(direct, view);
    for (let from = 0; from < view.tools.length; from += SLICE) {
      await later();
      for (const entry of view.tools.slice(from, from + SLICE)) sum += this.#ofTool(entry, view);
    }
    return sum;
  }

  #ofTool(entry: ToolEntry, view: View): number {
    let tokens = this.#tools.get(entry);
    if (tokens === undefined)
      this.#tools.set(entry, (tokens = estimateTokens(stringifyExact(listedTool(entry, view)))));
    return tokens;
  }

  #ofPayload(payload: Payload): number {
    let tokens = this.#payloads.get(payload);
    if (tokens === undefined) this.#payloads.set(payload, (tokens = estimateTokens(payload.text)));
    return tokens;
  }
}

function isSettled({ servers }: View): boolean {
  return servers.every(({ facts }) => facts !== undefined);
}

function said(exposure: Exposure, view: View): number {
  return estimateTokens(exposure.instructions(view));
}
