export interface ComingOptions {
  /** Never longer than this. */
  readonly atMostMs: number;
  /** So long for all of them; then only while they keep coming, or while there is not enough. Without it, as long as `atMostMs`. */
  readonly forAllMs?: number;
  /** None for so long means that they have stopped coming. */
  readonly lullMs?: number;
  readonly isEnough?: () => boolean;
}

/** Waits for all of these, none of which may reject, or until it is not worth it any more. */
export async function whileTheyCome(coming: readonly Promise<void>[], options: ComingOptions): Promise<void> {
  const { atMostMs, forAllMs = atMostMs, lullMs = 0, isEnough = () => true } = options;
  const begin = performance.now();
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    let left = coming.length;
    let isOver = left === 0;
    const waitOn = (sinceLastMs: number): void => {
      if (isOver) return;
      const passedMs = performance.now() - begin;
      const wantedMs = isEnough() ? Math.max(forAllMs - passedMs, sinceLastMs) : Number.POSITIVE_INFINITY;
      clearTimeout(timer);
      timer = setTimeout(resolve, Math.max(0, Math.min(wantedMs, atMostMs - passedMs)));
    };
    for (const one of coming)
      void one.then(() => {
        left--;
        isOver = left === 0;
        if (isOver) resolve();
        else waitOn(lullMs);
      });
    if (isOver) resolve();
    else waitOn(0);
  });
  clearTimeout(timer);
}
