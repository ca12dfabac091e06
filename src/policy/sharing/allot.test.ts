import fc from 'fast-check';
import { expect, test } from 'vitest';

import { allot } from './allot.ts';

interface Gateway {
  share: number;
  wanted: number;
  inUse: number;
  /** What the others read of it. */
  stored: { share: number; wanted: number };
}

const gateway = (): Gateway => ({ share: 0, wanted: 0, inUse: 0, stored: { share: 0, wanted: 0 } });

/** One decision of one of them, as the book makes it. */
function decide(all: readonly Gateway[], at: number, limit: number, round: number): void {
  const own = all[at] as Gateway;
  const others = all.filter((_, other) => other !== at).map(({ stored }) => stored);
  const { wanted, inUse } = own;
  const allotted = { share: own.stored.share, wanted, inUse };
  own.share = allot({ limit, own: allotted, others, position: at, turn: round });
  own.stored = { share: own.share, wanted: own.wanted };
}

const total = (all: readonly Gateway[]): number => all.reduce((sum, { share }) => sum + share, 0);

test('all shares together never exceed the limit, whoever decides when, and nobody loses a place in use', () => {
  const step = fc.record({
    at: fc.nat(4),
    wanted: fc.nat(30),
    use: fc.double({ min: 0, max: 1, noNaN: true }),
    isDead: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 200 }), (limit, steps) => {
      const all = Array.from({ length: 5 }, gateway);
      steps.forEach(({ at, wanted, use, isDead }, round) => {
        const own = all[at] as Gateway;
        if (isDead && round % 7 === 0) {
          // Its lease is over, and another one has taken its place.
          all[at] = gateway();
          return;
        }
        own.wanted = Math.min(wanted, limit);
        const before = own.share;
        own.inUse = Math.floor(use * before);
        decide(all, at, limit, round);
        expect(total(all)).toBeLessThanOrEqual(limit);
        expect(own.share).toBeGreaterThanOrEqual(own.inUse);
      });
    }),
  );
});

test('when there is enough, each gets what it wants; else nobody starves and nothing is left over', () => {
  const wanted = fc.array(fc.nat(12), { minLength: 2, maxLength: 5 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), wanted, (limit, wants) => {
      const all = wants.map((want) => ({ ...gateway(), wanted: Math.min(want, limit) }));
      const got = wants.map(() => 0);
      // What goes round has gone round more than once.
      for (let round = 0; round < 4 * all.length; round++) {
        for (let twice = 0; twice < 2; twice++) for (const at of all.keys()) decide(all, at, limit, round);
        all.forEach(({ share }, at) => (got[at] = Math.max(got[at] ?? 0, share)));
      }
      const sum = all.reduce((before, { wanted: want }) => before + want, 0);
      for (const [at, { share, wanted: want }] of all.entries()) {
        if (sum <= limit) expect(share).toBeGreaterThanOrEqual(want);
        else if (want > 0) expect(got[at]).toBeGreaterThan(0);
      }
      if (sum >= limit) expect(total(all)).toBe(limit);
    }),
  );
});

test('places in use come free for others as they end', () => {
  const all = [gateway(), gateway()];
  const [one, other] = all as [Gateway, Gateway];
  one.wanted = 4;
  decide(all, 0, 4, 0);
  expect(one.share).toBe(4);
  one.inUse = 4;
  other.wanted = 4;
  decide(all, 1, 4, 0);
  decide(all, 0, 4, 0);
  decide(all, 1, 4, 0);
  expect([one.share, other.share]).toEqual([4, 0]);
  one.inUse = 1;
  decide(all, 0, 4, 0);
  decide(all, 1, 4, 0);
  expect([one.share, other.share]).toEqual([2, 2]);
});
