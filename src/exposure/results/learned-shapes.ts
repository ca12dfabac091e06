import { setImmediate as nextTurn } from 'node:timers/promises';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ToolEntry } from '../../core/entry.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { Payload } from '../../core/lib/payload.ts';
import { waitAtMost } from '../../core/lib/wait-at-most.ts';
import type { Database, StoreLog } from '../../core/storage/database.ts';
import { mergeShapes, shapeOf, shortenShape } from './json-shape.ts';
import type { JsonShape } from './json-shape.ts';
import { deleteShapes, readShapes, saveShapes } from './shape-rows.ts';
import type { ShapeRow } from './shape-rows.ts';

interface LearnedShapesOptions {
  readonly database: () => Promise<Database>;
  /** Whether the database can contain shapes; if not, it is not opened to look for them. */
  readonly isStored: () => boolean;
  readonly isEnabled: () => boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A monotonic clock with fractions of milliseconds. */
  readonly clock: () => number;
  readonly log?: StoreLog;
  readonly saveAfterMs?: number;
}

/** The shape and the counters of one definition of a tool. */
interface LearnedTool extends Omit<ShapeRow, 'shape'> {
  shape: JsonShape | undefined;
  /** The number of results. */
  seen: number;
  isSaved: boolean;
}

interface Sample {
  readonly tool: LearnedTool;
  readonly entry: ToolEntry;
  readonly payload: Payload;
}

/** The first results of a tool are read, and later one of many. */
const FIRST_RESULTS = 5;
const LATER_RESULTS = 50;
/** A longer result is not read, and neither is its beginning, because its last member may be the one that matters. */
const MAX_RESULT = 64 * 1024;
const MAX_QUEUE = 16;
/** The time that reading results may take in each second. One result takes at most about 10 ms. */
const MAX_MS_PER_SECOND = 20;
const MAX_SHAPE = 4_000;
/** The number of tools that are known in memory; the oldest are forgotten. */
const MAX_TOOLS = 2_000;
const SAVE_AFTER_MS = 30_000;
const ROWS_PER_SAVE = 50;
/** The time that a description waits for the database. Without an answer, only what this process has seen is shown. */
const READ_MS = 300;
/** A server chooses the names of its tools. A database does not accept longer names as a key, or control characters and lone surrogates. */
const STORABLE_NAME = /^[^\p{Cc}\p{Cs}]{1,200}$/u;

/**
 * Learns the keys and types of results, without their values, for tools whose definition has no output schema. All callers of a gateway
 * share them, and all gateways of a database. Reading happens after the answer was sent and takes a bounded part of the time.
 */
export class LearnedShapes implements AsyncDisposable {
  readonly #options: LearnedShapesOptions;
  readonly #tools = new Map<string, LearnedTool>();
  readonly #queue: Sample[] = [];
  #reading: Promise<void> | undefined;
  #secondBegan = -Infinity;
  #spentMs = 0;
  #saveTimer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #hasReported = false;

  constructor(options: LearnedShapesOptions) {
    this.#options = options;
  }

  /** Takes note of a result. Returns at once; a few results are read later. */
  observe(entry: ToolEntry | undefined, payload: Payload): void {
    if (entry === undefined || this.#isClosed || !isLearnable(entry) || !this.#options.isEnabled()) return;
    if (!isSuccess(payload)) return;
    const tool = this.#toolOf(entry);
    tool.seen += 1;
    if (tool.seen > FIRST_RESULTS && tool.seen % LATER_RESULTS !== 0) return;
    if (this.#queue.length >= MAX_QUEUE || payload.length > MAX_RESULT) return;
    this.#queue.push({ tool, entry, payload });
    this.#reading ??= this.#readQueue().finally(() => (this.#reading = undefined));
  }

  /** Returns the shapes of those tools for which one is known. */
  async find(entries: readonly ToolEntry[]): Promise<ReadonlyMap<ToolEntry, JsonShape>> {
    const found = new Map<ToolEntry, JsonShape>();
    const wanted = entries.filter(isLearnable);
    if (wanted.length === 0 || !this.#options.isEnabled()) return found;
    const rows = await this.#stored(wanted);
    for (const entry of wanted) {
      const isOf = ({ upstream, tool, fingerprint }: Omit<ShapeRow, 'shape'>): boolean =>
        upstream === entry.upstream && tool === entry.definition.name && fingerprint === entry.fingerprint;
      const own = this.#tools.get(keyOf(entry));
      const shapes = [rows.find(isOf)?.shape, own && isOf(own) ? own.shape : undefined].filter(
        (shape) => shape !== undefined,
      );
      if (shapes.length > 0) found.set(entry, shapes.reduce(mergeShapes));
    }
    return found;
  }

  /** Forgets the tools of servers that were removed. */
  async forget(servers: readonly UpstreamName[]): Promise<void> {
    if (servers.length === 0) return;
    for (const [key, { upstream }] of this.#tools) if (servers.includes(upstream)) this.#tools.delete(key);
    if (this.#options.isStored()) await deleteShapes(await this.#options.database(), servers);
  }

  /** Reads and stores what was observed. */
  async flush(): Promise<void> {
    await this.#reading;
    await this.#save();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.flush();
    clearTimeout(this.#saveTimer);
  }

  #toolOf(entry: ToolEntry): LearnedTool {
    const key = keyOf(entry);
    const { upstream, fingerprint } = entry;
    let tool = this.#tools.get(key);
    if (tool?.fingerprint === fingerprint) return tool;
    tool = { upstream, tool: entry.definition.name, fingerprint, shape: undefined, seen: 0, isSaved: true };
    this.#tools.delete(key);
    this.#tools.set(key, tool);
    const [oldest] = this.#tools.keys();
    if (this.#tools.size > MAX_TOOLS && oldest !== undefined) this.#tools.delete(oldest);
    return tool;
  }

  async #readQueue(): Promise<void> {
    while (this.#queue.length > 0) {
      // The answer is sent first, and other requests are handled between two results.
      await nextTurn();
      const sample = this.#queue.shift();
      // Loaded here, because a process without such results does not need the word list.
      const { createFieldCheck } = await import('./create-field-check.ts');
      const began = this.#options.clock();
      if (began - this.#secondBegan >= 1000) {
        this.#secondBegan = began;
        this.#spentMs = 0;
      }
      if (sample === undefined || this.#spentMs >= MAX_MS_PER_SECOND) continue;
      try {
        this.#read(sample, createFieldCheck(sample.entry.definition));
      } catch {
        // Nothing is learned from a value that is nested too deeply to be parsed.
      }
      this.#spentMs += this.#options.clock() - began;
    }
  }

  #read({ tool, entry, payload }: Sample, isField: (key: string) => boolean): void {
    const value = readValue(payload);
    // The tool may have changed, or its server may have been removed.
    if (value === undefined || this.#tools.get(keyOf(entry)) !== tool) return;
    const shape = shapeOf(value, isField);
    const merged = shortenShape(tool.shape === undefined ? shape : mergeShapes(tool.shape, shape), MAX_SHAPE);
    if (JSON.stringify(merged).length > MAX_SHAPE || JSON.stringify(merged) === JSON.stringify(tool.shape))
      return;
    tool.shape = merged;
    tool.isSaved = false;
    this.#scheduleSave();
  }

  #scheduleSave(): void {
    if (this.#isClosed) return;
    this.#saveTimer ??= setTimeout(
      () => void this.#save(),
      this.#options.saveAfterMs ?? SAVE_AFTER_MS,
    ).unref();
  }

  /** Stores what has changed; never rejects. */
  async #save(): Promise<void> {
    clearTimeout(this.#saveTimer);
    this.#saveTimer = undefined;
    const changed = [...this.#tools.values()].filter(({ isSaved }) => !isSaved);
    const rows = changed.slice(0, ROWS_PER_SAVE);
    if (rows.length === 0) return;
    for (const row of rows) row.isSaved = true; // Set first, so that a change during the write is not lost.
    try {
      const merge = (row: LearnedTool, stored: JsonShape | undefined): JsonShape | undefined => {
        if (stored !== undefined && row.shape !== undefined)
          row.shape = shortenShape(mergeShapes(stored, row.shape), MAX_SHAPE);
        return row.shape;
      };
      await saveShapes(await this.#options.database(), rows, { merge, now: this.#options.now() });
      this.#hasReported = false;
    } catch (error) {
      // A failed write is not repeated before something else changes: a full disk fails every time.
      for (const row of rows) row.isSaved = false;
      this.#report(error);
      return;
    }
    if (changed.length > rows.length) this.#scheduleSave();
  }

  async #stored(entries: readonly ToolEntry[]): Promise<readonly ShapeRow[]> {
    if (!this.#options.isStored()) return [];
    let rows: readonly ShapeRow[] = [];
    const reading = this.#options
      .database()
      .then((database) => readShapes(database, entries))
      .then((found) => void (rows = found))
      .catch((error: unknown) => this.#report(error));
    await waitAtMost(reading, READ_MS);
    return rows;
  }

  #report(error: unknown): void {
    if (this.#hasReported || this.#isClosed) return;
    this.#hasReported = true;
    this.#options.log?.warn(
      'Cannot read or store the learned shapes of results; those of this run are kept in memory.',
      { reason: String(error) },
    );
  }
}

function keyOf({ upstream, definition }: ToolEntry): string {
  return `${upstream}\n${definition.name}`;
}

/** Whether the shape of the results is unknown and can be stored. */
function isLearnable({ definition }: ToolEntry): boolean {
  return definition['outputSchema'] === undefined && STORABLE_NAME.test(definition.name);
}

function isSuccess({ outline }: Payload): boolean {
  return isJsonObject(outline) && outline['isError'] !== true && outline['resultType'] !== 'input_required';
}

/**
 * Returns the value that a script or `select` receives: the structured content or the text, parsed if it is a JSON object or array. Returns
 * undefined for other content, and for structured content that only wraps the text, which the two read differently.
 */
function readValue({ peek: result }: Payload): unknown {
  if (!isJsonObject(result)) return undefined;
  const { structuredContent, content } = result;
  if (structuredContent !== undefined) return wrapsText(result) ? undefined : structuredContent;
  if (!Array.isArray(content) || content.length === 0) return undefined;
  const texts = content.map((block: unknown) =>
    isJsonObject(block) && block['type'] === 'text' ? block['text'] : undefined,
  );
  if (!texts.every((text) => typeof text === 'string')) return undefined;
  const text = texts.join('\n');
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whether the structured content of a result only wraps its text, as some libraries add it. */
export function wrapsText({ structuredContent, content }: JsonObject): boolean {
  if (!isJsonObject(structuredContent)) return false;
  const [onlyMember, ...others] = Object.values(structuredContent);
  const [block, ...blocks] = Array.isArray(content) ? (content as readonly unknown[]) : [];
  return (
    typeof onlyMember === 'string' &&
    others.length + blocks.length === 0 &&
    isJsonObject(block) &&
    block['text'] === onlyMember
  );
}
