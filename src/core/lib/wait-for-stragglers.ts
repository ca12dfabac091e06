/**
 * All times are in milliseconds. Pauses are measured from the last arrival, all other times from the start of the wait. An arrival is a
 * promise that has resolved.
 */
export interface StragglerOptions {
  /** Upper bound of the wait. */
  readonly atMostMs: number;
  /**
   * The time to wait for all promises. After it, the wait continues only while promises keep resolving, or until `isEnough`. The default is
   * `atMostMs`.
   */
  readonly forAllMs?: number;
  /** After `forAllMs`, a pause of this length without an arrival ends the wait. */
  readonly lullMs?: number;
  /** Until it returns true, the wait ends only at `atMostMs` or when all promises have resolved. */
  readonly isEnough?: () => boolean;
  /** The number of arrivals before the wait began. */
  readonly arrivedBefore?: number;
  /**
   * From `fromMs` on, the wait for the last few ends after a pause of `lullMs`, or of the longest gap between two arrivals if that is
   * longer.
   */
  readonly lastFew?: { readonly fromMs: number; readonly lullMs: number };
}

/** The missing promises count as few if at least this many have arrived for each of them. */
const FOR_EACH_MISSING = 3;

/** Waits for promises that never reject, and gives up on stragglers as the options say. */
export async function waitForStragglers(
  promises: readonly Promise<void>[],
  options: StragglerOptions,
): Promise<void> {
  const { atMostMs, forAllMs = atMostMs, lullMs = 0, isEnough = () => true } = options;
  const { arrivedBefore = 0, lastFew } = options;
  const begin = performance.now();
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    let missing = promises.length;
    let isOver = missing === 0;
    // The time of the last arrival, and the longest gap between two arrivals.
    let lastMs: number | undefined;
    let longestGapMs = 0;
    // Returns when the wait ends if nothing else arrives. It is computed again after each arrival.
    const endMs = (): number => {
      if (!isEnough()) return atMostMs;
      const all = lastMs === undefined ? forAllMs : Math.max(forAllMs, lastMs + lullMs);
      const areFewLeft = arrivedBefore + promises.length - missing >= FOR_EACH_MISSING * missing;
      if (lastFew === undefined || !areFewLeft) return Math.min(atMostMs, all);
      const lull = (lastMs ?? 0) + Math.max(lastFew.lullMs, longestGapMs);
      return Math.min(atMostMs, all, Math.max(lastFew.fromMs, lull));
    };
    const restartTimer = (): void => {
      clearTimeout(timer);
      timer = setTimeout(resolve, Math.max(0, endMs() - (performance.now() - begin)));
    };
    const onArrival = (): void => {
      missing--;
      isOver ||= missing === 0;
      if (isOver) return resolve();
      const passedMs = performance.now() - begin;
      if (lastMs !== undefined) longestGapMs = Math.max(longestGapMs, passedMs - lastMs);
      lastMs = passedMs;
      restartTimer();
    };
    for (const promise of promises) void promise.then(onArrival);
    if (isOver) resolve();
    else restartTimer();
  });
  clearTimeout(timer);
}
