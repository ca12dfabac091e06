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
  readonly here?: number;
  /**
   * From `fromMs` on, the wait for the last few ends after a pause of `lullMs`, or of the longest gap between two arrivals if that is
   * longer.
   */
  readonly withoutFew?: { readonly fromMs: number; readonly lullMs: number };
}

/** The missing promises count as few if at least this many have arrived for each of them. */
const FOR_EACH_MISSING = 3;

/** Waits for promises that never reject, and gives up on stragglers as the options say. */
export async function waitForStragglers(
  coming: readonly Promise<void>[],
  options: StragglerOptions,
): Promise<void> {
  const { atMostMs, forAllMs = atMostMs, lullMs = 0, isEnough = () => true } = options;
  const { here = 0, withoutFew } = options;
  const begin = performance.now();
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    let left = coming.length;
    let isOver = left === 0;
    // The time of the last arrival, and the longest gap between two arrivals.
    let lastMs: number | undefined;
    let widestMs = 0;
    // Returns when the wait ends if nothing else arrives. It is computed again after each arrival.
    const untilMs = (): number => {
      if (!isEnough()) return atMostMs;
      const all = lastMs === undefined ? forAllMs : Math.max(forAllMs, lastMs + lullMs);
      const areFewLeft = here + coming.length - left >= FOR_EACH_MISSING * left;
      if (withoutFew === undefined || !areFewLeft) return Math.min(atMostMs, all);
      const lull = (lastMs ?? 0) + Math.max(withoutFew.lullMs, widestMs);
      return Math.min(atMostMs, all, Math.max(withoutFew.fromMs, lull));
    };
    const waitOn = (): void => {
      clearTimeout(timer);
      timer = setTimeout(resolve, Math.max(0, untilMs() - (performance.now() - begin)));
    };
    const come = (): void => {
      left--;
      isOver ||= left === 0;
      if (isOver) return resolve();
      const passedMs = performance.now() - begin;
      if (lastMs !== undefined) widestMs = Math.max(widestMs, passedMs - lastMs);
      lastMs = passedMs;
      waitOn();
    };
    for (const one of coming) void one.then(come);
    if (isOver) resolve();
    else waitOn();
  });
  clearTimeout(timer);
}
