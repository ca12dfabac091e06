import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { policyCall } from '../../../test/support/policy-call.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import { Deadlines } from '../../core/lib/deadlines.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Call, Next } from '../guard.ts';
import { runGuarded } from '../guard-chain.ts';
import { deadlineGuard } from './deadline-guard.ts';

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Behaves like an upstream that never answers. Rejects with the reason when the call is cancelled. */
const neverAnswers: Next = ({ cancellation }) => new Promise((_, reject) => cancellation.onCancel(reject));

class TimedCall {
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
    readonly hasRequestTimeout?: boolean;
  }) {
    const { timeoutMs, maxMs, next = neverAnswers } = options;
    const deadlines = new Deadlines({ tickMs: 50, now: Date.now });
    this.call = policyCall({
      cancellation: new Cancellation(),
      timeoutMs,
      hasRequestTimeout: options.hasRequestTimeout,
      ...(options.wantsProgress ? { onProgress: (progress) => this.progress.push(progress) } : {}),
    });
    const guard = deadlineGuard({ deadlines, maxMs, now: Date.now });
    const run: Next = (call) =>
      guard(call, (inner) => {
        this.inner = inner;
        return next(inner);
      });
    runGuarded(run, this.call).then(
      () => (this.endedAt = Date.now()),
      (error: unknown) => {
        this.endedAt = Date.now();
        this.failure = error;
      },
    );
  }
}

describe('call timeout', () => {
  test('call timeout: cancels the call with CALL_TIMEOUT', async () => {
    const timed = new TimedCall({ timeoutMs: 1000, maxMs: 10_000, wantsProgress: false });
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

  test('call timeout: names the limit of the call itself as the cause', async () => {
    const own = new TimedCall({
      timeoutMs: 1000,
      maxMs: 10_000,
      wantsProgress: false,
      hasRequestTimeout: true,
    });
    await vi.advanceTimersByTimeAsync(1050);
    expect(own.failure).toMatchObject({
      message: expect.stringMatching(/within 1 s\..* the call itself set this limit/) as string,
      details: { limitedBy: 'call' },
    });
  });

  test('call timeout: is extended by progress up to the maximum', async () => {
    const timed = new TimedCall({ timeoutMs: 1000, maxMs: 3000, wantsProgress: true });
    for (let at = 0; at < 10; at++) {
      await vi.advanceTimersByTimeAsync(500);
      if (timed.endedAt === undefined) timed.inner?.onProgress?.({ progress: at });
    }
    expect(timed.endedAt).toBeGreaterThanOrEqual(3000);
    expect(timed.endedAt).toBeLessThanOrEqual(3050);
    expect(timed.progress).toEqual([0, 1, 2, 3, 4].map((progress) => ({ progress })));
  });

  test('call timeout: expires when progress stops', async () => {
    const timed = new TimedCall({ timeoutMs: 1000, maxMs: 10_000, wantsProgress: true });
    await vi.advanceTimersByTimeAsync(900);
    timed.inner?.onProgress?.({});
    await vi.advanceTimersByTimeAsync(999);
    expect(timed.endedAt).toBeUndefined();
    await vi.advanceTimersByTimeAsync(101);
    expect(timed.failure).toMatchObject({ code: 'CALL_TIMEOUT' });
  });

  test('call timeout: never exceeds the maximum, whatever the client requests', async () => {
    const timed = new TimedCall({ timeoutMs: 1e12, maxMs: 2000, wantsProgress: false });
    await vi.advanceTimersByTimeAsync(2050);
    expect(timed.failure).toMatchObject({
      code: 'CALL_TIMEOUT',
      message: expect.stringMatching(/within 2 s\..*timeouts\.max/) as string,
    });
  });

  test.each([
    ['answered', () => Promise.resolve(Payload.of(1))],
    ['refused', () => Promise.reject(new Error('no'))],
  ])('call timeout: stops its timer once the call is %s', async (_, next: Next) => {
    // Other code may have timers, so counting all of them would prove nothing.
    const [setTimer, clearTimer] = [
      vi.spyOn(globalThis, 'setInterval'),
      vi.spyOn(globalThis, 'clearInterval'),
    ];
    const timed = new TimedCall({ timeoutMs: 1000, maxMs: 10_000, wantsProgress: false, next });
    await vi.advanceTimersByTimeAsync(5000);
    expect(timed.endedAt).toBe(0);
    expect(timed.call.cancellation.reason).toBeUndefined();
    expect(clearTimer).toHaveBeenCalledWith(setTimer.mock.results[0]?.value);
  });

  test('call timeout: requests no progress that the client did not request', () => {
    const timed = new TimedCall({ timeoutMs: 1000, maxMs: 10_000, wantsProgress: false });
    expect(timed.inner).toBe(timed.call);
  });

  test('call timeout: keeps the reason of a cancellation by the client', async () => {
    const timed = new TimedCall({ timeoutMs: 1000, maxMs: 10_000, wantsProgress: false });
    const reason = new Error('the client');
    timed.call.cancellation.cancel(reason);
    await vi.advanceTimersByTimeAsync(5000);
    expect(timed.failure).toBe(reason);
  });
});
