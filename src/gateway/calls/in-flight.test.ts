import { describe, expect, test } from 'vitest';

import { Cancellation } from '../../lib/cancellation.ts';
import { InFlight } from './in-flight.ts';

/** Work that ends so long after it was cancelled; never, if not said. */
function cancelled(inFlight: InFlight, afterMs?: number): { isOver: boolean } {
  const work = { isOver: false };
  const cancellation = new Cancellation();
  const ended = new Promise<void>((_, reject) => {
    cancellation.onCancel((reason) => {
      if (afterMs !== undefined) setTimeout(() => reject(reason), afterMs);
    });
  });
  inFlight.track(cancellation, ended).catch(() => (work.isOver = true));
  return work;
}

describe('InFlight', () => {
  test('lets what is under way finish', async () => {
    const inFlight = new InFlight();
    let isDone = false;
    const work = async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      isDone = true;
    };
    void inFlight.track(new Cancellation(), work());
    await inFlight.drain(60_000);
    expect(isDone).toBe(true);
  });

  test('cancels what does not, and waits for its last words', async () => {
    const inFlight = new InFlight();
    const [soon, later] = [cancelled(inFlight, 0), cancelled(inFlight, 100)];
    await inFlight.drain(0);
    expect([soon.isOver, later.isOver]).toEqual([true, true]);
  });

  test('does not wait for ever', async () => {
    const inFlight = new InFlight();
    const [soon, never] = [cancelled(inFlight, 0), cancelled(inFlight)];
    await inFlight.drain(0);
    expect([soon.isOver, never.isOver]).toEqual([true, false]);
  });
});
