import type { Hit } from '../search/search-index.ts';

/** What is so much weaker than the best is rather a coincidence of words. */
const WEAK = 0.3;

/** What a search without a limit of its own answers with; whoever says how many gets so many. */
export function strongHits(hits: readonly Hit[]): readonly Hit[] {
  const least = (hits[0]?.score ?? 0) * WEAK;
  return hits.filter(({ score }) => score >= least);
}
