import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { policyCall } from '../../../test/support/policy-call.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { GatewayError } from '../../core/errors.ts';
import type { Guard } from '../guard.ts';
import { rateLimitGuard } from './rate-limit-guard.ts';

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

const NO_LIMIT = { rate: 0, waiting: 0 };

function guardWith(rates: { caller?: number; server?: number; waiting?: number }): Guard {
  const { caller = 0, server = 0, waiting = 0 } = rates;
  return rateLimitGuard({
    ofCaller: caller === 0 ? NO_LIMIT : { rate: caller, waiting },
    ofUpstream: () => ({ rate: server, waiting }),
    now: Date.now,
  });
}

/** Returns the time at which the guard admitted the call, or the error. */
async function admit(guard: Guard, caller = 'ann', cancellation = new Cancellation()): Promise<unknown> {
  const call = policyCall({ caller: { id: caller, via: 'stdio', profile: 'default' }, cancellation });
  let admittedAt: number | undefined;
  const result = guard(call, () => {
    admittedAt = Date.now();
    return Promise.resolve(Payload.of({}));
  });
  return result.then(
    () => admittedAt,
    (error: unknown) => error,
  );
}

const retryAfterMs = (error: unknown): number => Number((error as GatewayError).details['retryAfterMs']);

describe('rate limit', () => {
  test('rate limit: admits a burst, then rejects with the exact retry time', async () => {
    const guard = guardWith({ server: 60 });
    for (let at = 0; at < 6; at++) expect(await admit(guard)).toBe(0);
    const refused = await admit(guard);
    expect(refused).toMatchObject({ code: 'RATE_LIMITED', details: { retryAfterMs: 1000 } });
    // One millisecond before the retry time the call is still rejected.
    vi.setSystemTime(retryAfterMs(refused) - 1);
    expect(await admit(guard)).toMatchObject({ details: { retryAfterMs: 1 } });
    vi.setSystemTime(retryAfterMs(refused));
    expect(await admit(guard)).toBe(1000);
  });

  test.each([7, 60, 90, 333, 1000, 59_999])(
    'rate limit: admits exactly %i calls per minute to a client that follows the retry time',
    async (perMinute) => {
      const guard = guardWith({ server: perMinute });
      const burst = Math.ceil(perMinute / 10);
      const count = burst + 50;
      for (let done = 0; done < count;) {
        const end = await admit(guard);
        if (typeof end === 'number') done++;
        else vi.setSystemTime(Date.now() + retryAfterMs(end));
      }
      const least = ((count - burst) * 60_000) / perMinute;
      expect(Date.now()).toBeGreaterThanOrEqual(least - 1);
      // Each retry time is rounded up to a whole millisecond, and not more.
      expect(Date.now()).toBeLessThanOrEqual(least + 50);
    },
  );

  test("rate limit: counts each caller separately, and rejected calls do not use up the server's rate", async () => {
    const guard = guardWith({ caller: 10, server: 20 });
    expect(await admit(guard, 'ann')).toBe(0);
    expect(await admit(guard, 'ann')).toMatchObject({
      code: 'RATE_LIMITED',
      message: expect.stringContaining('You make'),
    });
    expect(await admit(guard, 'ben')).toBe(0);
    expect(await admit(guard, 'cid')).toMatchObject({
      message: expect.stringContaining('Server "server" receives'),
    });
  });
});

describe('rate limit queue', () => {
  test('rate limit queue: admits calls in turn and rejects a wait of more than two seconds', async () => {
    const guard = guardWith({ server: 60, waiting: 10 });
    for (let at = 0; at < 6; at++) await admit(guard);
    const [first, second, third] = [admit(guard), admit(guard), admit(guard)];
    expect(await third).toMatchObject({ code: 'RATE_LIMITED', details: { retryAfterMs: 3000 } });
    await vi.advanceTimersByTimeAsync(1000);
    expect(await first).toBe(1000);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await second).toBe(2000);
  });

  test('rate limit queue: rejects calls beyond its length', async () => {
    const guard = guardWith({ server: 600, waiting: 2 });
    for (let at = 0; at < 60; at++) await admit(guard);
    const waiting = [admit(guard), admit(guard)];
    const refused = await admit(guard);
    expect(refused).toMatchObject({ code: 'RATE_LIMITED', details: { retryAfterMs: 300 } });
    await vi.advanceTimersByTimeAsync(retryAfterMs(refused));
    expect(await Promise.all(waiting)).toEqual([100, 200]);
    expect(await admit(guard)).toBe(300);
  });

  test('rate limit queue: gives the place of a cancelled call to the next one', async () => {
    const guard = guardWith({ caller: 60, server: 60, waiting: 1 });
    for (let at = 0; at < 6; at++) await admit(guard);
    const cancellation = new Cancellation();
    const left = admit(guard, 'ann', cancellation);
    cancellation.cancel(new Error('enough'));
    expect(await left).toMatchObject({ message: 'enough' });
    const next = admit(guard);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await next).toBe(1000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
