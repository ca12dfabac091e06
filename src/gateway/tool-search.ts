import { readFile } from 'node:fs/promises';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { UpstreamConfig } from '../config/config.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { Logger } from '../observe/log.ts';
import type { Hit, SearchIndex } from '../search/search-index.ts';
import type { WordVectors } from '../search/word-vectors.ts';

export interface FindOptions {
  readonly limit: number;
  /** Only tools of this upstream. */
  readonly server?: string;
}

export type Find = (snapshot: Snapshot, query: string, options: FindOptions) => Promise<readonly Hit[]>;

interface ToolSearchDeps {
  readonly upstreams: readonly UpstreamConfig[];
  /** The file of word vectors; without it only words count. */
  readonly vectors: URL | undefined;
  readonly log: Logger;
}

/** One index per snapshot, made from the one before when somebody searches. Nothing is loaded until then. */
export function toolSearch({ upstreams, vectors, log }: ToolSearchDeps): Find {
  const indexes = new WeakMap<Snapshot, SearchIndex>();
  const described = new Map<UpstreamName, string | undefined>(
    upstreams.map(({ name, description }) => [name, description]),
  );
  let newest: SearchIndex | undefined;
  let loading: ReturnType<typeof load> | undefined;
  return async (snapshot, query, { limit, server }) => {
    const { buildIndex, words } = await (loading ??= load(vectors, log));
    let index = indexes.get(snapshot);
    if (index === undefined) {
      const { tools, upstreams: facts } = snapshot;
      index = buildIndex(
        { tools, upstreams: facts, describe: (upstream) => described.get(upstream) },
        { ...(newest && { previous: newest }), vectors: () => words },
      );
      indexes.set(snapshot, index);
      newest = index;
    }
    return index.search(query, { limit, allow: () => true, ...(server !== undefined && { server }) });
  };
}

async function load(vectors: URL | undefined, log: Logger) {
  const [{ buildIndex }, { wordVectors }] = await Promise.all([
    import('../search/search-index.ts'),
    import('../search/word-vectors.ts'),
  ]);
  let words: WordVectors | undefined;
  try {
    if (vectors !== undefined) words = wordVectors(await readFile(vectors));
  } catch (error) {
    log.warn('Cannot read the word vectors; searching by words alone.', { reason: String(error) });
  }
  return { buildIndex, words };
}
