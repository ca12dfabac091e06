import type { Snapshot } from '../catalog/snapshot.ts';
import type { ToolEntry } from '../model/entry.ts';
import type { UpstreamName } from '../model/ids.ts';
import { analyseServer, analyseTool } from './analyse.ts';
import type { Analysed } from './analyse.ts';
import { postings } from './postings.ts';
import { readQuery } from './query.ts';
import { repairer } from './repair.ts';
import { scoreAll } from './score.ts';
import type { Corpus } from './score.ts';
import { lexicon } from './synonyms.ts';
import { serverText } from './tool-text.ts';
import { vocabulary } from './vocabulary.ts';
import { WEIGHTS } from './weights.ts';
import type { Weights } from './weights.ts';

export interface Hit {
  readonly entry: ToolEntry;
  readonly score: number;
  /** Words of the query that the tool or its server has. */
  readonly matched: readonly string[];
}
export interface SearchOptions {
  readonly limit: number;
  allow(entry: ToolEntry): boolean;
}
export interface SearchIndex {
  search(query: string, options: SearchOptions): readonly Hit[];
}
export function buildIndex(source: Pick<Snapshot, 'tools' | 'upstreams'>, options: { weights?: Weights } = {}): any {
  const weights = options.weights ?? WEIGHTS;
  const words = vocabulary();
  const entries = [...source.tools.values()];
  const serverIds = new Map<UpstreamName, number>();
  const servers: Analysed[] = [];
  const analysed = entries.map((entry) => {
    let id = serverIds.get(entry.upstream);
    if (id === undefined) {
      id = servers.length;
      serverIds.set(entry.upstream, id);
      servers.push(analyseServer(serverText(entry.upstream, source.upstreams.get(entry.upstream)?.facts, undefined), words));
    }
    return [analyseTool(entry, words), servers[id]!] as const;
  });
  const post = postings(analysed, words.size, weights);
  const nameOffsets = new Uint32Array(entries.length + 1);
  analysed.forEach(([tool], at) => (nameOffsets[at + 1] = nameOffsets[at]! + tool.name.length));
  const names = new Uint32Array(nameOffsets[entries.length]!);
  analysed.forEach(([tool], at) => names.set(tool.name, nameOffsets[at]));
  const corpus: Corpus = { postings: post, names, nameOffsets, servers: Uint32Array.from(entries, (e) => serverIds.get(e.upstream)!), serverCount: servers.length };
  const known = {
    lexicon: lexicon(), weights,
    termOf: (t: string) => { const id = words.idOf(t); return id !== undefined && post.rarity[id]! > 0 ? id : undefined; },
    repair: repairer((function* () { for (let i = 0; i < words.size; i++) yield [words.termOf(i), i] as const; })()),
  };
  return {
    entries, corpus, analysed, words,
    pool(text: string, size: number) {
      const query = readQuery(text, known);
      const { scores, evidence } = scoreAll(query, corpus, weights);
      const ids: number[] = [];
      for (let i = 0; i < scores.length; i++) if (scores[i]! > 0) ids.push(i);
      ids.sort((a, b) => scores[b]! - scores[a]! || a - b);
      return { query, scores, evidence, ids: ids.slice(0, size) };
    },
    search(text: string, { limit }: SearchOptions) {
      const { ids, scores } = this.pool(text, limit);
      return ids.map((i: number) => ({ entry: entries[i]!, score: scores[i]!, matched: [] }));
    },
  };
}
export { WEIGHTS } from './weights.ts';
