/** None for so long means that the servers that are there are those that start fast. */
const LULL_MS = 150;

/** When the wait of the first lists ends. */
export interface ListWait {
  /** By then with what is there, if anything is and no more keeps coming. */
  readonly end: number;
  readonly latest: number;
}

/**
 * By a clock that begins with the process: what starting took is part of what a client waits. Whoever asks first is given at least half of
 * the wait, and all of it where nothing is there yet.
 */
export function listWaitOf(listWaitMs: number, askedAt: number): ListWait {
  const end = Math.max(listWaitMs, askedAt + listWaitMs / 2);
  return { end, latest: askedAt + listWaitMs };
}

/** What is left of it. */
export function restOf({ end, latest }: ListWait, now: number) {
  return { forAllMs: Math.max(0, end - now), lullMs: LULL_MS, atMostMs: Math.max(0, latest - now) };
}
