import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { policyCall } from '../../../test/support/policy-call.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import { deferred } from '../../core/lib/deferred.ts';
import type { Deferred } from '../../core/lib/deferred.ts';
import { Payload } from '../../core/lib/payload.ts';
import { GatewayError } from '../../core/errors.ts';
import { GuardState } from '../guard-state.ts';
import { runGuarded } from '../guard-chain.ts';
import { upstreamConcurrencyGuard } from './concurrency-guards.ts';

class Limited {
  /** Calls that the guard has let through, in their order. */
  readonly sent: Deferred<Payload>[] = [];
  now = 0;
  readonly #guard;

  constructor(concurrency: number, waiting: number) {
    this.#guard = upstreamConcurrencyGuard(
      (upstream) => (upstream === 'free' ? undefined : { concurrency, waiting }),
      () => this.now,
    );
  }

  call(upstream = 'server', cancellation = new Cancellation()): Promise<unknown> {
    const send = (): Promise<Payload> => {
      const answer = deferred<Payload>();
      this.sent.push(answer);
      return answer.promise;
    };
    return runGuarded((call) => this.#guard(call, send), policyCall({ upstream, cancellation }));
  }
}

describe('upstream limit', () => {
  test('upstream limit: admits up to its concurrency and the next call when one ends', async () => {
    const limited = new Limited(2, 10);
    const calls = [limited.call(), limited.call(), limited.call()];
    expect(limited.sent).toHaveLength(2);
    limited.sent[0]!.resolve(Payload.of(0));
    await calls[0];
    await expect.poll(() => limited.sent.length).toBe(3);
  });

  test('upstream limit: frees the slot when a call fails', async () => {
    const limited = new Limited(1, 10);
    const [first, second] = [limited.call(), limited.call()];
    limited.sent[0]!.reject(new Error('no'));
    await expect(first).rejects.toThrow('no');
    await expect.poll(() => limited.sent.length).toBe(2);
    limited.sent[1]!.resolve(Payload.of(1));
    await second;
  });

  test('upstream limit: rejects calls beyond the queue with a retry time', async () => {
    const limited = new Limited(1, 2);
    const calls = [limited.call(), limited.call(), limited.call()];
    await expect(limited.call()).rejects.toMatchObject({
      code: 'UPSTREAM_BUSY',
      details: { upstream: 'server', retryAfterMs: 1000 },
    });
    expect(limited.sent).toHaveLength(1);
    expect(calls).toHaveLength(3);
  });

  test('upstream limit: estimates the retry time from call durations', async () => {
    const limited = new Limited(2, 1);
    const [first] = [limited.call(), limited.call(), limited.call()];
    limited.now = 600;
    limited.sent[0]!.resolve(Payload.of(0));
    await first;
    await expect.poll(() => limited.sent.length).toBe(3);
    void limited.call();
    // A call takes 600 ms on average and there are two slots, so a slot becomes free every 300 ms.
    await expect(limited.call()).rejects.toMatchObject({ details: { retryAfterMs: 300 } });
  });

  test('upstream limit: drops a cancelled call from the queue without sending it', async () => {
    const limited = new Limited(1, 1);
    const cancellation = new Cancellation();
    const first = limited.call();
    const waiting = limited.call('server', cancellation);
    const reason = new GatewayError('CALL_CANCELLED', 'enough');
    cancellation.cancel(reason);
    await expect(waiting).rejects.toBe(reason);
    const third = limited.call();
    limited.sent[0]!.resolve(Payload.of(0));
    await first;
    await expect.poll(() => limited.sent.length).toBe(2);
    limited.sent[1]!.resolve(Payload.of(1));
    await third;
  });

  test('upstream limit: counts each upstream separately, and some not at all', () => {
    const limited = new Limited(1, 1);
    for (const upstream of ['a', 'b', 'free', 'free', 'free']) void limited.call(upstream);
    expect(limited.sent).toHaveLength(5);
  });

  test('upstream limit: never loses a slot in any sequence of outcomes', async () => {
    const ends = fc.array(fc.constantFrom('answer', 'fail', 'cancel'), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), ends, async (concurrency, history) => {
        const limited = new Limited(concurrency, 100);
        const cancellations: Cancellation[] = [];
        const outcomes = history.map((end) => {
          const cancellation = new Cancellation();
          cancellations.push(cancellation);
          return limited.call('server', cancellation).catch(() => end);
        });
        history.forEach((end, at) => {
          if (end === 'cancel') cancellations[at]!.cancel(new Error('enough'));
        });
        for (let done = 0; done < limited.sent.length; done++) {
          expect(limited.sent.length - done).toBeLessThanOrEqual(concurrency);
          if (history[done] === 'fail') limited.sent[done]!.reject(new Error('no'));
          else limited.sent[done]!.resolve(Payload.of(done));
          await new Promise((resolve) => {
            setImmediate(resolve);
          });
        }
        await Promise.all(outcomes);
        const before = limited.sent.length;
        for (let at = 0; at < concurrency; at++) void limited.call();
        expect(limited.sent).toHaveLength(before + concurrency);
      }),
      { numRuns: 50 },
    );
  });
});

test('upstream limit: keeps its counts across new guards until the limit changes', async () => {
  const state = new GuardState();
  const waiting = 0;
  const make = (concurrency: number) =>
    upstreamConcurrencyGuard(() => ({ concurrency, waiting }), Date.now, state.upstreamSlots);
  const open = deferred<Payload>();
  const call = (guard: ReturnType<typeof make>): Promise<unknown> =>
    runGuarded((one) => guard(one, () => open.promise), policyCall({ upstream: 'server' })).catch(
      (error: unknown) => error,
    );
  const first = call(make(1));
  expect(await call(make(1))).toMatchObject({ code: 'UPSTREAM_BUSY' });
  const second = call(make(2));
  state.retainUpstreams(new Map());
  const third = call(make(2));
  open.resolve(Payload.of(0));
  expect(await Promise.all([first, second, third])).toHaveLength(3);
  expect([...state.upstreamSlots.keys()]).toEqual(['server']);
});
