import fc from 'fast-check';
import { expect, test } from 'vitest';

import { allocateShare } from './allocate-share.ts';

interface Gateway {
  share: number;
  wanted: number;
  inUse: number;
  /** The values that the other gateways read from the database. */
  stored: { share: number; wanted: number };
}

const gateway = (): Gateway => ({ share: 0, wanted: 0, inUse: 0, stored: { share: 0, wanted: 0 } });

/** Allocates the share of one gateway, as the share store does. */
function allocate(all: readonly Gateway[], at: number, limit: number, turn: number): void {
  const own = all[at] as Gateway;
  const others = all.filter((_, other) => other !== at).map(({ stored }) => stored);
  const { wanted, inUse } = own;
  const holder = { share: own.stored.share, wanted, inUse };
  own.share = allocateShare({ limit, own: holder, others, position: at, turn });
  own.stored = { share: own.share, wanted: own.wanted };
}

const total = (all: readonly Gateway[]): number => all.reduce((sum, { share }) => sum + share, 0);

test('fleet limit: is never exceeded by the sum of all shares, and slots in use are kept', () => {
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
          // Its lease has expired, and a new gateway has replaced it.
          all[at] = gateway();
          return;
        }
        own.wanted = Math.min(wanted, limit);
        const before = own.share;
        own.inUse = Math.floor(use * before);
        allocate(all, at, limit, round);
        expect(total(all)).toBeLessThanOrEqual(limit);
        expect(own.share).toBeGreaterThanOrEqual(own.inUse);
      });
    }),
  );
});

test('fleet limit: gives each gateway what it wants if possible, else starves none', () => {
  const wanted = fc.array(fc.nat(12), { minLength: 2, maxLength: 5 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), wanted, (limit, wants) => {
      const all = wants.map((want) => ({ ...gateway(), wanted: Math.min(want, limit) }));
      const got = wants.map(() => 0);
      // Enough turns for the remainder to reach every gateway more than once.
      for (let round = 0; round < 4 * all.length; round++) {
        for (let twice = 0; twice < 2; twice++) for (const at of all.keys()) allocate(all, at, limit, round);
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

test('fleet limit: moves slots to other gateways as calls end', () => {
  const all = [gateway(), gateway()];
  const [one, other] = all as [Gateway, Gateway];
  one.wanted = 4;
  allocate(all, 0, 4, 0);
  expect(one.share).toBe(4);
  one.inUse = 4;
  other.wanted = 4;
  allocate(all, 1, 4, 0);
  allocate(all, 0, 4, 0);
  allocate(all, 1, 4, 0);
  expect([one.share, other.share]).toEqual([4, 0]);
  one.inUse = 1;
  allocate(all, 0, 4, 0);
  allocate(all, 1, 4, 0);
  expect([one.share, other.share]).toEqual([2, 2]);
});
