import { expect, test } from 'vitest';

import { KeyAttemptLimiter } from './key-attempt-limiter.ts';

const limited = (retryAfterMs: number): unknown =>
  expect.objectContaining({ code: 'RATE_LIMITED', details: { retryAfterMs } });

test('key attempts: rate-limits an address after five wrong keys within a minute', () => {
  const clock = { now: 0 };
  const attempts = new KeyAttemptLimiter(() => clock.now);
  for (let attempt = 0; attempt < 5; attempt++) {
    attempts.recordFailure('192.0.2.1');
    clock.now += 1000;
  }
  expect(() => attempts.recordFailure('192.0.2.1')).toThrow(limited(55_000));
  attempts.recordFailure('192.0.2.2');
  clock.now = 60_000;
  attempts.recordFailure('192.0.2.1');
});

test('key attempts: counts further addresses together once there are many', () => {
  const clock = { now: 0 };
  const attempts = new KeyAttemptLimiter(() => clock.now);
  for (let address = 0; address < 1005; address++) attempts.recordFailure(`address ${address}`);
  expect(() => attempts.recordFailure('another')).toThrow(limited(60_000));
  attempts.recordFailure('address 1');
  clock.now = 60_000;
  attempts.recordFailure('another');
});
