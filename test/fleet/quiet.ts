import { eventually } from '../support/eventually.ts';

/** Waits until a count stays as it is for longer than several gateways need to notice the same thing. */
export async function quiet(count: () => number): Promise<void> {
  let [last, since] = [count(), Date.now()];
  await eventually(
    () => {
      if (count() !== last) [last, since] = [count(), Date.now()];
      return Date.now() - since > 700;
    },
    { withinMs: 20_000 },
  );
}
