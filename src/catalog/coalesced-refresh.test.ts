import { describe, expect, test } from 'vitest';

import { Cancellation } from '../core/lib/cancellation.ts';
import { deferred } from '../core/lib/deferred.ts';
import type { Deferred } from '../core/lib/deferred.ts';
import { CoalescedRefresh } from './coalesced-refresh.ts';

function setUp() {
  const runs: (Deferred<void> & { readonly cancellation: Cancellation })[] = [];
  let active = 0;
  const refresh = new CoalescedRefresh(async (cancellation) => {
    expect(active).toBe(0);
    const run = { ...deferred<void>(), cancellation };
    runs.push(run);
    cancellation.onCancel(() => active--);
    active++;
    await run.promise.finally(() => active--);
  });
  return { runs, refresh, ask: (cancellation = new Cancellation()) => refresh.request(cancellation) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('refresh queue', () => {
  test('refresh queue: runs once, and once more for all requests that arrive meanwhile', async () => {
    const { runs, ask } = setUp();
    const first = ask();
    const later = [ask(), ask(), ask()];
    await turn();
    expect(runs).toHaveLength(1);
    runs[0]!.resolve();
    await first;
    await turn();
    expect(runs).toHaveLength(2);
    runs[1]!.resolve();
    await Promise.all(later);
    await turn();
    expect(runs).toHaveLength(2);
  });

  test('refresh queue: never runs twice at the same time', async () => {
    const { runs, ask } = setUp();
    const asked = [ask(), ask()];
    const askAtEveryStep = async () => {
      for (let step = 0; step < 20; step++) {
        asked.push(ask());
        await Promise.resolve();
      }
    };
    runs[0]!.resolve();
    await askAtEveryStep();
    for (let at = 1; at < 3; at++) {
      await turn();
      runs[at]?.resolve();
    }
    await Promise.all(asked);
    expect(runs.length).toBeLessThanOrEqual(3);
  });

  test('refresh queue: continues after a failure', async () => {
    const { runs, ask } = setUp();
    const first = ask();
    const second = ask();
    runs[0]!.reject(new Error('no'));
    await expect(first).rejects.toThrow('no');
    await turn();
    runs[1]!.resolve();
    await second;
    const third = ask();
    runs[2]!.resolve();
    await third;
  });

  test('refresh queue: cancels a run only when all of its requesters have cancelled', async () => {
    const { runs, ask } = setUp();
    const [one, other] = [new Cancellation(), new Cancellation()];
    const running = ask();
    const waiting = [ask(one), ask(other)];
    runs[0]!.resolve();
    await running;
    await turn();
    one.cancel(new Error('impatient'));
    await expect(waiting[0]).rejects.toThrow('impatient');
    expect(runs[1]!.cancellation.reason).toBeUndefined();
    other.cancel(new Error('impatient too'));
    await expect(waiting[1]).rejects.toThrow('impatient too');
    expect(runs[1]!.cancellation.reason?.message).toBe('impatient too');
  });

  test('refresh queue: starts a new run after a cancelled one, even if that never ends', async () => {
    const { runs, ask } = setUp();
    const impatient = new Cancellation();
    const first = ask(impatient);
    impatient.cancel(new Error('impatient'));
    await expect(first).rejects.toThrow('impatient');
    const second = ask();
    await turn();
    expect(runs).toHaveLength(2);
    runs[1]!.resolve();
    await second;
  });

  test('refresh queue: serves later requests when an earlier waiting one is cancelled', async () => {
    const { runs, ask } = setUp();
    const first = ask();
    const impatient = new Cancellation();
    const second = ask(impatient);
    impatient.cancel(new Error('impatient'));
    await expect(second).rejects.toThrow('impatient');
    const third = ask();
    runs[0]!.resolve();
    await first;
    await turn();
    expect(runs).toHaveLength(2);
    runs[1]!.resolve();
    await expect(third).resolves.toBeUndefined();
  });

  test('refresh queue: starts nothing for a request that is already cancelled', async () => {
    const { runs, ask } = setUp();
    const cancelled = new Cancellation();
    cancelled.cancel(new Error('early'));
    await expect(ask(cancelled)).rejects.toThrow('early');
    expect(runs).toHaveLength(0);
  });

  test('refresh queue: rejects all requests when stopped', async () => {
    const { runs, refresh, ask } = setUp();
    const asked = Promise.allSettled([ask(), ask()]);
    await refresh.stop(new Error('stopping'));
    expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(runs).toHaveLength(1);
  });
});
