export interface ComingOptions {
  /** Never longer than this. */
  readonly atMostMs: number;
  /** So long for all of them; then only while they keep coming, or while there is not enough. Without it, as long as `atMostMs`. */
  readonly forAllMs?: number;
  /** None for so long means that they have stopped coming. */
  readonly lullMs?: number;
  readonly isEnough?: () => boolean;
  /** How many are there already. */
  readonly here?: number;
  /** From then on the last few are not waited for when none has come for so long, nor for the longest time between any two. */
  readonly withoutFew?: { readonly fromMs: number; readonly lullMs: number };
}

/** So many must be there for each that is not, and so many at the least: of fewer it cannot be told how they come. */
const FOR_EACH_MISSING = 3;

/** Waits for all of these, none of which may reject, or until it is not worth it any more. */
export async function whileTheyCome(coming: readonly Promise<void>[], options: ComingOptions): Promise<void> {
  const { atMostMs, forAllMs = atMostMs, lullMs = 0, isEnough = () => true } = options;
  const { here = 0, withoutFew } = options;
  const begin = performance.now();
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    let left = coming.length;
    let isOver = left === 0;
    let lastMs: number | undefined;
    let widestMs = 0;
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
