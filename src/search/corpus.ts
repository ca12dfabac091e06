import type { Snapshot } from '../catalog/snapshot.ts';
import type { ToolEntry } from '../model/entry.ts';
import type { UpstreamName } from '../model/ids.ts';
import { analyseServer, analyseTool, nameOf } from './analyse.ts';
import type { Analysed, RunCache } from './analyse.ts';
import { postings } from './postings.ts';
import type { Parts } from './postings.ts';
import type { Corpus } from './score.ts';
import { serverText } from './tool-text.ts';
import { vocabulary } from './vocabulary.ts';
import type { Vocabulary } from './vocabulary.ts';
import type { Weights } from './weights.ts';

/** What the next index can take over from this one. */
export interface Reusable {
  readonly words: Vocabulary;
  /** By upstream, fingerprint, words of the configuration and name. */
  readonly tools: ReadonlyMap<string, Analysed>;
  /** By upstream and what is known about it. */
  readonly servers: ReadonlyMap<string, Analysed>;
}

export interface Documents {
  readonly entries: readonly ToolEntry[];
  readonly parts: readonly Parts[];
  readonly corpus: Corpus;
  readonly reusable: Reusable;
  /** How many tools had to be analysed. */
  readonly analysed: number;
}

export interface Source extends Pick<Snapshot, 'tools' | 'upstreams'> {
  /** What the config says about an upstream. */
  describe?(upstream: UpstreamName): string | undefined;
}

const SPARE_WORDS = 5_000;

/** In steps, each a small part of the work, so that whoever builds in the background can let others go first. */
export function* documents(
  source: Source,
  weights: Weights,
  previous?: Reusable,
): Generator<void, Documents> {
  const gathered = yield* gather(source, previous);
  const { words, entries, parts, serverIds } = gathered;
  const built = yield* postings(parts, words.size, weights);
  const used = built.rarity.reduce((count, rarity) => (rarity > 0 ? count + 1 : count), 0);
  // Words of tools long gone would make every later build dearer.
  if (previous !== undefined && words.size > 2 * used + SPARE_WORDS) return yield* documents(source, weights);
  const nameOffsets = new Uint32Array(parts.length + 1);
  parts.forEach(([tool], at) => {
    nameOffsets[at + 1] = (nameOffsets[at] ?? 0) + tool.name;
  });
  const names = new Uint32Array(nameOffsets[parts.length] ?? 0);
  parts.forEach(([tool], at) => {
    names.set(nameOf(tool), nameOffsets[at] ?? 0);
  });
  return {
    entries,
    parts,
    corpus: {
      postings: built,
      names,
      nameOffsets,
      servers: Uint32Array.from(entries, ({ upstream }) => serverIds.get(upstream) ?? 0),
      serverCount: serverIds.size,
      serverIds,
    },
    reusable: gathered,
    analysed: gathered.analysed,
  };
}

interface Gathered extends Reusable {
  readonly entries: readonly ToolEntry[];
  readonly parts: readonly Parts[];
  readonly serverIds: ReadonlyMap<UpstreamName, number>;
  readonly analysed: number;
}

function* gather(source: Source, previous: Reusable | undefined): Generator<void, Gathered> {
  const words = previous?.words ?? vocabulary();
  const tools = new Map<string, Analysed>();
  const servers = new Map<string, Analysed>();
  const serverOf = new Map<UpstreamName, Analysed>();
  const serverIds = new Map<UpstreamName, number>();
  const cache: RunCache = new Map();
  let analysed = 0;
  const entries = [...source.tools.values()];
  const parts: Parts[] = [];
  for (const entry of entries) {
    const { upstream } = entry;
    let server = serverOf.get(upstream);
    if (server === undefined) {
      const text = serverText(upstream, source.upstreams.get(upstream)?.facts, source.describe?.(upstream));
      const key = JSON.stringify([upstream, text.name, text.text]);
      server = previous?.servers.get(key) ?? analyseServer(text, words, cache);
      servers.set(key, server);
      serverOf.set(upstream, server);
      serverIds.set(upstream, serverIds.size);
    }
    const key = `${upstream}\n${entry.fingerprint}\n${entry.words ?? ''}\n${entry.name}`;
    let tool = previous?.tools.get(key);
    if (tool === undefined) {
      tool = analyseTool(entry, words, cache);
      analysed += 1;
    }
    tools.set(key, tool);
    parts.push([tool, server]);
    yield;
  }
  return { words, tools, servers, entries, parts, serverIds, analysed };
}
