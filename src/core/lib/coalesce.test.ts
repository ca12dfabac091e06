import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { coalesce } from './coalesce.ts';
import { deferred } from './deferred.ts';
import type { Deferred } from './deferred.ts';

describe('coalesce', () => {
  test('coalesce: combines all requests during a run into one further run', async () => {
    const runs: Deferred<void>[] = [];
    const run = coalesce(() => {
      runs.push(deferred<void>());
      return runs.at(-1)!.promise;
    });
    const first = run();
    const [second, third] = [run(), run()];
    expect(runs).toHaveLength(1);
    runs[0]!.resolve();
    await first;
    await expect.poll(() => runs.length).toBe(2);
    runs[1]!.resolve();
    await Promise.all([second, third]);
    expect(runs).toHaveLength(2);
  });

  test('coalesce: runs again after a failure and rejects only the callers of the failed run', async () => {
    let runs = 0;
    const run = coalesce(() => (++runs === 1 ? Promise.reject(new Error('first')) : Promise.resolve()));
    const [first, second] = [run(), run()];
    await expect(first).rejects.toThrow('first');
    await expect(second).resolves.toBeUndefined();
    await expect(run()).resolves.toBeUndefined();
    expect(runs).toBe(3);
  });

  test('coalesce: never overlaps runs and never drops a request', async () => {
    const pauses = fc.array(fc.nat(8), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(pauses, fc.array(fc.nat(8)), async (requests, durations) => {
        let running = 0;
        let started = 0;
        const run = coalesce(async () => {
          expect(++running).toBe(1);
          await microtasks(durations[started++] ?? 0);
          running--;
        });
        const answers: Promise<void>[] = [];
        for (const pause of requests) {
          await microtasks(pause);
          const before = started;
          answers.push(run().then(() => expect(started).toBeGreaterThan(before)));
        }
        await Promise.all(answers);
        expect(started).toBeLessThanOrEqual(requests.length);
      }),
    );
  });
});

async function microtasks(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await Promise.resolve();
}
