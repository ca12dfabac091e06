import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { policyCall } from '../../../test/support/policy-call.ts';
import { Cancellation } from '../../lib/cancellation.ts';
import { Deadlines } from '../../lib/deadlines.ts';
import { Payload } from '../../lib/payload.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Call, Next } from '../call.ts';
import { runToEnd } from '../run-to-end.ts';
import { deadline } from './deadline.ts';

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Never answers, but ends with the reason when it is cancelled, as an upstream does. */
const patient: Next = ({ cancellation }) => new Promise((_, reject) => cancellation.onCancel(reject));

class Timed {
  readonly call: Call;
  readonly progress: JsonObject[] = [];
  endedAt: number | undefined;
  failure: unknown;
  inner: Call | undefined;

  constructor(options: {
    readonly timeoutMs: number;
    readonly maxMs: number;
    readonly wantsProgress: boolean;
    readonly next?: Next;
    readonly hasOwnLimit?: boolean;
  }) {
    const { timeoutMs, maxMs, next = patient } = options;
    const deadlines = new Deadlines({ tickMs: 50, now: Date.now });
    this.call = policyCall({
      cancellation: new Cancellation(),
      timeoutMs,
      hasOwnLimit: options.hasOwnLimit,
      ...(options.wantsProgress ? { onProgress: (progress) => this.progress.push(progress) } : {}),
    });
    const guard = deadline({ deadlines, maxMs, now: Date.now });
    const run: Next = (call) =>
      guard(call, (inner) => {
        this.inner = inner;
        return next(inner);
      });
    runToEnd(run, this.call).then(
      () => (this.endedAt = Date.now()),
      (error: unknown) => {
        this.endedAt = Date.now();
        this.failure = error;
      },
    );
  }
}

describe('the deadline of a call', () => {
  test('cancels it after its time and says so', async () => {
    const timed = new Timed({ timeoutMs: 1000, maxMs: 10_000, wantsProgress: false });
    await vi.advanceTimersByTimeAsync(999);
    expect(timed.endedAt).toBeUndefined();
    await vi.advanceTimersByTimeAsync(51);
    expect(timed.failure).toMatchObject({
      code: 'CALL_TIMEOUT',
      message: expect.stringContaining('within 1 s') as string,
      details: { upstream: 'server', timeoutMs: 1000, limitedBy: 'timeouts.call' },
    });
    expect(timed.call.cancellation.reason).toBe(timed.failure);
  });

  test('names the limit that ended it, which need not be one of the configuration', async () => {
    const own = new Timed({ timeoutMs: 1000, maxMs: 10_000, wantsProgress: false, hasOwnLimit: true });
    await vi.advanceTimersByTimeAsync(1050);
    expect(own.failure).toMatchObject({
      message: expect.stringMatching(/within 1 s\..* the call itself set this limit/) as string,
      details: { limitedBy: 'call' },
    });
  });

  test('moves with progress, up to the maximum and no further', async () => {
    const timed = new Timed({ timeoutMs: 1000, maxMs: 3000, wantsProgress: true });
    for (let at = 0; at < 10; at++) {
      await vi.advanceTimersByTimeAsync(500);
      if (timed.endedAt === undefined) timed.inner?.onProgress?.({ progress: at });
    }
    expect(timed.endedAt).toBeGreaterThanOrEqual(3000);
    expect(timed.endedAt).toBeLessThanOrEqual(3050);
    expect(timed.progress).toEqual([0, 1, 2, 3, 4].map((progress) => ({ progress })));
  });

  test('comes when progress stops coming', async () => {
    const timed = new Timed({ timeoutMs: 1000, maxMs: 10_000, wantsProgress: true });
    await vi.advanceTimersByTimeAsync(900);
    timed.inner?.onProgress?.({});
    await vi.advanceTimersByTimeAsync(999);
    expect(timed.endedAt).toBeUndefined();
    await vi.advanceTimersByTimeAsync(101);
    expect(timed.failure).toMatchObject({ code: 'CALL_TIMEOUT' });
  });

  test('is never later than the maximum, whatever the client wants', async () => {
    const timed = new Timed({ timeoutMs: 1e12, maxMs: 2000, wantsProgress: false });
    await vi.advanceTimersByTimeAsync(2050);
    expect(timed.failure).toMatchObject({
      code: 'CALL_TIMEOUT',
      message: expect.stringMatching(/within 2 s\..*timeouts\.max/) as string,
    });
  });

  test.each([
    ['answered', () => Promise.resolve(Payload.of(1))],
    ['refused', () => Promise.reject(new Error('no'))],
  ])('means nothing once the call is %s', async (_, next: Next) => {
    // Timers of others may be there, so that counting all of them says nothing.
    const [begun, ended] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')];
    const timed = new Timed({ timeoutMs: 1000, maxMs: 10_000, wantsProgress: false, next });
    await vi.advanceTimersByTimeAsync(5000);
    expect(timed.endedAt).toBe(0);
    expect(timed.call.cancellation.reason).toBeUndefined();
    expect(ended).toHaveBeenCalledWith(begun.mock.results[0]?.value);
  });

  test('asks for no progress that nobody wants', () => {
    const timed = new Timed({ timeoutMs: 1000, maxMs: 10_000, wantsProgress: false });
    expect(timed.inner).toBe(timed.call);
  });

  test('leaves a cancellation by the client as it is', async () => {
    const timed = new Timed({ timeoutMs: 1000, maxMs: 10_000, wantsProgress: false });
    const reason = new Error('the client');
    timed.call.cancellation.cancel(reason);
    await vi.advanceTimersByTimeAsync(5000);
    expect(timed.failure).toBe(reason);
  });
});
