import type { Snapshot } from '../snapshot.ts';
import type { ToolEntry } from '../../core/entry.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { analyseServer, analyseTool, nameTerms } from './analyse.ts';
import type { AnalysedText, RunCache } from './analyse.ts';
import { buildPostings } from './postings.ts';
import type { DocumentParts } from './postings.ts';
import type { Corpus } from './score.ts';
import { serverText } from './tool-text.ts';
import { createVocabulary } from './vocabulary.ts';
import type { Vocabulary } from './vocabulary.ts';
import type { RankingWeights } from './ranking-weights.ts';

/** The analysis that the next index can reuse. */
export interface ReusableAnalysis {
  readonly words: Vocabulary;
  /** Keyed by upstream, fingerprint, fingerprint of the configured description, and exposed name. */
  readonly tools: ReadonlyMap<string, AnalysedText>;
  /** Keyed by upstream and its texts. */
  readonly servers: ReadonlyMap<string, AnalysedText>;
}

export interface IndexedDocuments {
  readonly entries: readonly ToolEntry[];
  readonly parts: readonly DocumentParts[];
  readonly corpus: Corpus;
  readonly reusable: ReusableAnalysis;
  /** The number of tools that were analysed for this index. The analysis of all others was reused. */
  readonly analysed: number;
}

export interface IndexSource extends Pick<Snapshot, 'tools' | 'upstreams'> {
  /** Returns the configured description of an upstream. */
  describe?(upstream: UpstreamName): string | undefined;
}

/** The vocabulary is rebuilt when it has this many more unused words than used ones. */
const SPARE_WORDS = 5_000;

/** Builds the documents in small steps, so a background build can let other work run in between. */
export function* buildDocuments(
  source: IndexSource,
  weights: RankingWeights,
  previous?: ReusableAnalysis,
): Generator<void, IndexedDocuments> {
  const documents = yield* analyseDocuments(source, previous);
  const { words, entries, parts, serverIds } = documents;
  const postings = yield* buildPostings(parts, words.size, weights);
  const used = postings.rarity.reduce((count, rarity) => (rarity > 0 ? count + 1 : count), 0);
  // The words of removed tools make every build slower, so a vocabulary with too many of them is rebuilt.
  if (previous !== undefined && words.size > 2 * used + SPARE_WORDS)
    return yield* buildDocuments(source, weights);
  const nameOffsets = new Uint32Array(parts.length + 1);
  parts.forEach(([tool], at) => {
    nameOffsets[at + 1] = (nameOffsets[at] ?? 0) + tool.nameTermCount;
  });
  const names = new Uint32Array(nameOffsets[parts.length] ?? 0);
  parts.forEach(([tool], at) => {
    names.set(nameTerms(tool), nameOffsets[at] ?? 0);
  });
  return {
    entries,
    parts,
    corpus: {
      postings,
      names,
      nameOffsets,
      servers: Uint32Array.from(entries, ({ upstream }) => serverIds.get(upstream) ?? 0),
      serverCount: serverIds.size,
      serverIds,
    },
    reusable: documents,
    analysed: documents.analysed,
  };
}

interface AnalysedDocuments extends ReusableAnalysis {
  readonly entries: readonly ToolEntry[];
  readonly parts: readonly DocumentParts[];
  readonly serverIds: ReadonlyMap<UpstreamName, number>;
  readonly analysed: number;
}

function* analyseDocuments(
  source: IndexSource,
  previous: ReusableAnalysis | undefined,
): Generator<void, AnalysedDocuments> {
  const words = previous?.words ?? createVocabulary();
  const tools = new Map<string, AnalysedText>();
  const servers = new Map<string, AnalysedText>();
  const serverOf = new Map<UpstreamName, AnalysedText>();
  const serverIds = new Map<UpstreamName, number>();
  const cache: RunCache = new Map();
  let analysed = 0;
  const entries = [...source.tools.values()];
  const parts: DocumentParts[] = [];
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
    const key = `${upstream}\n${entry.fingerprint}\n${entry.descriptionFingerprint ?? ''}\n${entry.name}`;
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
