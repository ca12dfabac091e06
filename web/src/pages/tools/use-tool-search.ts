import { useEffect, useState } from 'preact/hooks';

import type { AdminTool } from '../../../../src/admin/contract/contract.ts';
import { asProblem, type Problem } from '../../api/problem.ts';
import { useStore } from '../../store/use-store.ts';

interface Found {
  readonly tools: readonly AdminTool[];
  readonly problem: Problem | undefined;
}

const MOST = 100;

/** Asks with every key, and shows the answer to the last one only; until it is there, the one before stays. */
export function useToolSearch(words: string, server: string | undefined): Found {
  const { api } = useStore();
  const [found, setFound] = useState<Found>({ tools: [], problem: undefined });
  useEffect(() => {
    if (words.trim() === '') return undefined;
    const asking = new AbortController();
    const input = { q: words, limit: MOST, cached: true, ...(server !== undefined && { server }) };
    api.ask('GET /api/search', input, { signal: asking.signal }).then(
      (tools) => !asking.signal.aborted && setFound({ tools, problem: undefined }),
      (error: unknown) => !asking.signal.aborted && setFound({ tools: [], problem: asProblem(error) }),
    );
    return () => asking.abort();
  }, [api, words, server]);
  return found;
}
