/** None for so long means that the servers that are there are those that start fast. */
const LULL_MS = 150;
/** The same where only few are missing: servers that start together on two cores are some ten milliseconds apart. */
const LULL_WITHOUT_FEW_MS = 50;
/** Of the wait: before, no server is left out for being slower than the others. */
const UNDISTURBED_PART = 0.75;

/** When the wait of the first lists ends. */
export interface ListWait {
  /** From then on as soon as nearly all are there and no more come. */
  readonly soonest: number;
  /** By then with what is there, if anything is and no more keeps coming. */
  readonly end: number;
  readonly latest: number;
}

/**
 * By a clock that begins with the process: what starting took is part of what a client waits. Whoever asks first is given at least half of
 * the wait, and all of it where nothing is there yet; a quarter where only the slowest few are missing.
 */
export function listWaitOf(listWaitMs: number, askedAt: number): ListWait {
  const soonest = Math.max(listWaitMs * UNDISTURBED_PART, askedAt + listWaitMs / 4);
  const end = Math.max(listWaitMs, askedAt + listWaitMs / 2);
  return { soonest, end, latest: askedAt + listWaitMs };
}

/** What is left of it. */
export function restOf({ soonest, end, latest }: ListWait, now: number) {
  return {
    withoutFew: { fromMs: Math.max(0, soonest - now), lullMs: LULL_WITHOUT_FEW_MS },
    forAllMs: Math.max(0, end - now),
    lullMs: LULL_MS,
    atMostMs: Math.max(0, latest - now),
  };
}
