import { expect, test } from 'vitest';

import { KeyAttempts } from './key-attempts.ts';

test('after five wrong keys nobody can try another before the first is a minute old', () => {
  const clock = { now: 0 };
  const attempts = new KeyAttempts(() => clock.now);
  for (let each = 0; each < 5; each++) {
    attempts.check();
    attempts.failed();
    clock.now += 1000;
  }
  expect(() => attempts.check()).toThrow(
    expect.objectContaining({ code: 'RATE_LIMITED', details: { retryAfterMs: 55_000 } }),
  );
  clock.now = 60_000;
  attempts.check();
});
