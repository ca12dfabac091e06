import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { idleLimitMs, idleSetting, RecentRequests } from './idle-timer.ts';

const minute = 60_000;

describe('idleLimitMs', () => {
  test.each([
    [0, 1],
    [5, 1],
    [6, 3],
    [20, 3],
    [21, 5],
    [1000, 5],
  ])('idle limit: after %i requests within an hour is %i minutes', (requestsWithinHour, minutes) => {
    expect(idleLimitMs('adaptive', { isUsed: true, requestsWithinHour })).toBe(minutes * minute);
  });

  test('idle limit: is five minutes for a server that was only listed', () => {
    expect(idleLimitMs('adaptive', { isUsed: false, requestsWithinHour: 0 })).toBe(5 * minute);
  });

  test('idle limit: follows the configuration', () => {
    const use = { isUsed: true, requestsWithinHour: 100 };
    expect(idleLimitMs(1234, use)).toBe(1234);
    expect(idleLimitMs('never', use)).toBeUndefined();
  });
});

describe('RecentUse', () => {
  test('recent use: forgets requests older than an hour', () => {
    const use = new RecentRequests();
    use.add(0);
    use.add(10 * minute);
    expect(use.withinHour(59 * minute)).toBe(2);
    expect(use.withinHour(60 * minute)).toBe(1);
    expect(use.withinHour(70 * minute)).toBe(0);
  });

  test('recent use: counts exactly up to 21 requests', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(10 * minute), { maxLength: 100 }), (pauses) => {
        const use = new RecentRequests();
        let now = 0;
        const times = pauses.map((pause) => (now += pause));
        for (const time of times) use.add(time);
        const exact = times.filter((time) => now - time < 60 * minute).length;
        expect(use.withinHour(now)).toBe(Math.min(exact, 21));
      }),
    );
  });
});

test('idle limit: is one second for a listing-only process of a server shared per session', () => {
  for (const idle of ['never', 'adaptive', 60_000] as const) {
    expect(idleSetting({ share: 'session', idle }, {})).toBe(1000);
    expect(idleSetting({ share: 'session', idle }, { isOfSession: true })).toBe(idle);
    expect(idleSetting({ share: 'all', idle }, {})).toBe(idle);
  }
});
