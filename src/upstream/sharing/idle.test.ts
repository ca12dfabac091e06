import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { idleLimitMs, idleSetting, RecentUse } from './idle.ts';

const minute = 60_000;

describe('idleLimitMs', () => {
  test.each([
    [0, 1],
    [5, 1],
    [6, 3],
    [20, 3],
    [21, 5],
    [1000, 5],
  ])('after %i requests within the hour it is %i minutes', (requestsWithinHour, minutes) => {
    expect(idleLimitMs('adaptive', { isUsed: true, requestsWithinHour })).toBe(minutes * minute);
  });

  test('is long for a server that was only listed, since its first use is likely to come', () => {
    expect(idleLimitMs('adaptive', { isUsed: false, requestsWithinHour: 0 })).toBe(5 * minute);
  });

  test('is what the config says, where it says something', () => {
    const use = { isUsed: true, requestsWithinHour: 100 };
    expect(idleLimitMs(1234, use)).toBe(1234);
    expect(idleLimitMs('never', use)).toBeUndefined();
  });
});

describe('RecentUse', () => {
  test('forgets what is older than an hour', () => {
    const use = new RecentUse();
    use.add(0);
    use.add(10 * minute);
    expect(use.withinHour(59 * minute)).toBe(2);
    expect(use.withinHour(60 * minute)).toBe(1);
    expect(use.withinHour(70 * minute)).toBe(0);
  });

  test('counts right as far as the rule needs to count, however often it was used', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(10 * minute), { maxLength: 100 }), (pauses) => {
        const use = new RecentUse();
        let now = 0;
        const times = pauses.map((pause) => (now += pause));
        for (const time of times) use.add(time);
        const exact = times.filter((time) => now - time < 60 * minute).length;
        expect(use.withinHour(now)).toBe(Math.min(exact, 21));
      }),
    );
  });
});

test('what only lists for sessions that have their own is not spared, whatever the entry says', () => {
  for (const idle of ['never', 'adaptive', 60_000] as const) {
    expect(idleSetting({ share: 'session', idle }, {})).toBe(1000);
    expect(idleSetting({ share: 'session', idle }, { isOfSession: true })).toBe(idle);
    expect(idleSetting({ share: 'all', idle }, {})).toBe(idle);
  }
});
