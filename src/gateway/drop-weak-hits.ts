import type { SearchHit } from '../catalog/search/search-index.ts';

/** Minimum score of a hit, as a share of the best score. Hits below it match by coincidence. */
const MIN_SHARE_OF_BEST = 0.3;

/** Removes weak hits. It is used for searches without a limit; a client that sets a limit gets that number of hits. */
export function dropWeakHits(hits: readonly SearchHit[]): readonly SearchHit[] {
  const minScore = (hits[0]?.score ?? 0) * MIN_SHARE_OF_BEST;
  return hits.filter(({ score }) => score >= minScore);
}

/** A hit with less confidence is weak; `docs/decisions/search.md` says how often this is wrong. */
const MIN_CLEAR_CONFIDENCE = 0.52;

/** Whether no hit clearly does what the query asks. */
export function areAllWeak(hits: readonly SearchHit[]): boolean {
  return hits.every(({ confidence }) => confidence < MIN_CLEAR_CONFIDENCE);
}
