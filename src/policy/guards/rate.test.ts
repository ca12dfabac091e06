import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { policyCall } from '../../../test/support/policy-call.ts';
import { Cancellation } from '../../lib/cancellation.ts';
import { Payload } from '../../lib/payload.ts';
import type { GatewayError } from '../../model/errors.ts';
import type { Guard } from '../call.ts';
import { rate } from './rate.ts';

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

const none = { rate: 0, waiting: 0 };

function guardWith(rates: { caller?: number; server?: number; waiting?: number }): Guard {
  const { caller = 0, server = 0, waiting = 0 } = rates;
  return rate({
    ofCaller: caller === 0 ? none : { rate: caller, waiting },
    ofUpstream: () => ({ rate: server, waiting }),
    now: Date.now,
  });
}

/** When the call was let through, or the error. */
async function made(guard: Guard, caller = 'ann', cancellation = new Cancellation()): Promise<unknown> {
  const call = policyCall({ caller: { id: caller, via: 'stdio', profile: 'default' }, cancellation });
  let at: number | undefined;
  const end = guard(call, () => {
    at = Date.now();
    return Promise.resolve(Payload.of({}));
  });
  return end.then(
    () => at,
    (error: unknown) => error,
  );
}

const retryAfterMs = (error: unknown): number => Number((error as GatewayError).details['retryAfterMs']);

describe('rates', () => {
  test('let a burst through, refuse the next and say when there is room', async () => {
    const guard = guardWith({ server: 60 });
    for (let at = 0; at < 6; at++) expect(await made(guard)).toBe(0);
    const refused = await made(guard);
    expect(refused).toMatchObject({ code: 'RATE_LIMITED', details: { retryAfterMs: 1000 } });
    // A millisecond before it is too early, and at that time it is not.
    vi.setSystemTime(retryAfterMs(refused) - 1);
    expect(await made(guard)).toMatchObject({ details: { retryAfterMs: 1 } });
    vi.setSystemTime(retryAfterMs(refused));
    expect(await made(guard)).toBe(1000);
  });

  test.each([7, 60, 90, 333, 1000, 59_999])(
    'of %i per minute are kept to, whoever follows what it is told',
    async (perMinute) => {
      const guard = guardWith({ server: perMinute });
      const burst = Math.ceil(perMinute / 10);
      const count = burst + 50;
      for (let done = 0; done < count;) {
        const end = await made(guard);
        if (typeof end === 'number') done++;
        else vi.setSystemTime(Date.now() + retryAfterMs(end));
      }
      const least = ((count - burst) * 60_000) / perMinute;
      expect(Date.now()).toBeGreaterThanOrEqual(least - 1);
      // Nobody was told to wait for longer than was needed: a whole millisecond each, at most.
      expect(Date.now()).toBeLessThanOrEqual(least + 50);
    },
  );

  test('of a caller are its own, and a refused call takes nothing from the server', async () => {
    const guard = guardWith({ caller: 10, server: 20 });
    expect(await made(guard, 'ann')).toBe(0);
    expect(await made(guard, 'ann')).toMatchObject({
      code: 'RATE_LIMITED',
      message: expect.stringContaining('You make'),
    });
    expect(await made(guard, 'ben')).toBe(0);
    expect(await made(guard, 'cid')).toMatchObject({
      message: expect.stringContaining('Server "server" gets'),
    });
  });
});

describe('what is due soon', () => {
  test('waits in turn, as many as may and not longer than two seconds', async () => {
    const guard = guardWith({ server: 60, waiting: 10 });
    for (let at = 0; at < 6; at++) await made(guard);
    const [first, second, third] = [made(guard), made(guard), made(guard)];
    expect(await third).toMatchObject({ code: 'RATE_LIMITED', details: { retryAfterMs: 3000 } });
    await vi.advanceTimersByTimeAsync(1000);
    expect(await first).toBe(1000);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await second).toBe(2000);
  });

  test('is refused when enough wait already', async () => {
    const guard = guardWith({ server: 600, waiting: 2 });
    for (let at = 0; at < 60; at++) await made(guard);
    const waiting = [made(guard), made(guard)];
    const refused = await made(guard);
    expect(refused).toMatchObject({ code: 'RATE_LIMITED', details: { retryAfterMs: 300 } });
    await vi.advanceTimersByTimeAsync(retryAfterMs(refused));
    expect(await Promise.all(waiting)).toEqual([100, 200]);
    expect(await made(guard)).toBe(300);
  });

  test('is somebody else’s turn when its client gives up', async () => {
    const guard = guardWith({ caller: 60, server: 60, waiting: 1 });
    for (let at = 0; at < 6; at++) await made(guard);
    const cancellation = new Cancellation();
    const left = made(guard, 'ann', cancellation);
    cancellation.cancel(new Error('enough'));
    expect(await left).toMatchObject({ message: 'enough' });
    const next = made(guard);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await next).toBe(1000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
