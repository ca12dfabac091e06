import { eventually } from '../../support/eventually.ts';

/** Waits until a count has not changed for 700 ms, which is longer than several gateways need to notice the same change. */
export async function waitUntilStable(count: () => number): Promise<void> {
  let [last, since] = [count(), Date.now()];
  await eventually(
    () => {
      if (count() !== last) [last, since] = [count(), Date.now()];
      return Date.now() - since > 700;
    },
    { withinMs: 20_000 },
  );
}
