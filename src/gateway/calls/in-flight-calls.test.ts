import { describe, expect, test } from 'vitest';

import { Cancellation } from '../../core/lib/cancellation.ts';
import { InFlightCalls } from './in-flight-calls.ts';

/** Tracks work that ends `afterMs` after it was cancelled, or never if undefined. */
function trackWork(inFlight: InFlightCalls, afterMs?: number): { hasEnded: boolean } {
  const work = { hasEnded: false };
  const cancellation = new Cancellation();
  const ended = new Promise<void>((_, reject) => {
    cancellation.onCancel((reason) => {
      if (afterMs !== undefined) setTimeout(() => reject(reason), afterMs);
    });
  });
  inFlight.track(cancellation, ended).catch(() => (work.hasEnded = true));
  return work;
}

describe('in-flight calls', () => {
  test('drain: waits for running calls to finish', async () => {
    const inFlight = new InFlightCalls();
    let isDone = false;
    const work = async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      isDone = true;
    };
    void inFlight.track(new Cancellation(), work());
    await inFlight.drain(60_000);
    expect(isDone).toBe(true);
  });

  test('drain: cancels running calls after the grace period and waits until they have ended', async () => {
    const inFlight = new InFlightCalls();
    const [soon, later] = [trackWork(inFlight, 0), trackWork(inFlight, 100)];
    await inFlight.drain(0);
    expect([soon.hasEnded, later.hasEnded]).toEqual([true, true]);
  });

  test('drain: stops waiting for a call that ignores its cancellation', async () => {
    const inFlight = new InFlightCalls();
    const [soon, never] = [trackWork(inFlight, 0), trackWork(inFlight)];
    await inFlight.drain(0);
    expect([soon.hasEnded, never.hasEnded]).toEqual([true, false]);
  });
});
