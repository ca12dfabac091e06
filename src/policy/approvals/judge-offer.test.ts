import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Fingerprint } from '../../model/ids.ts';
import { judgeOffer } from './judge-offer.ts';
import type { Grounds, Trust } from './judge-offer.ts';
import { approvalFingerprint, subject, visibleOf } from './subject.ts';
import type { Subject } from './subject.ts';

const tool = (name: string, description: string): Subject => subject('tool', name, { name, description });

function grounds(changes: Partial<Grounds> = {}): Grounds {
  return {
    trust: 'first-sight',
    isFirstSight: false,
    approved: () => undefined,
    refused: () => undefined,
    isClean: () => true,
    ...changes,
  };
}

const nameOf = ({ name }: Subject): string => name;

describe('an offer', () => {
  test('is taken whole at first sight, where a person added the server', () => {
    const verdict = judgeOffer([tool('a', 'x'), tool('b', 'y')], grounds({ isFirstSight: true }));
    expect(verdict.held).toEqual([]);
    expect(verdict.taken.map(nameOf)).toEqual(['a', 'b']);
  });

  test('of an approved server is held where it is new or another one', () => {
    const [old, next] = [tool('a', 'x'), tool('a', 'x, and more')];
    const known = grounds({ approved: (_, name) => (name === 'a' ? old.fingerprint : undefined) });
    expect(judgeOffer([old], known)).toEqual({ held: [], taken: [] });
    expect(judgeOffer([next, tool('b', 'y')], known).held.map(({ reason }) => reason)).toEqual([
      'changed',
      'new',
    ]);
  });

  test('that is scanned is taken where it is clean, whether it is new or changed', () => {
    const scanned = grounds({
      trust: 'scan',
      isClean: ({ name }) => name === 'a',
      approved: () => 'x' as Fingerprint,
    });
    const { held, taken } = judgeOffer([tool('a', 'x'), tool('b', 'y')], scanned);
    expect(taken.map(nameOf)).toEqual(['a']);
    expect(held).toMatchObject([{ subject: { name: 'b' }, reason: 'suspicious' }]);
  });

  test('is held whole where everything waits for a person, at first sight, too', () => {
    const { held, taken } = judgeOffer([tool('a', 'x')], grounds({ trust: 'manual', isFirstSight: true }));
    expect(taken).toEqual([]);
    expect(held).toMatchObject([{ reason: 'new' }]);
  });
});

const names = fc.constantFrom('a', 'b', 'c');
const offers = fc
  .uniqueArray(fc.tuple(names, fc.string({ maxLength: 3 })), { selector: ([name]) => name })
  .map((all) => all.map(([name, text]) => tool(name, text)));
const trusts = fc.constantFrom<Trust>('first-sight', 'manual', 'scan');

test('nothing that a person refused is shown, whatever else holds', () => {
  fc.assert(
    fc.property(offers, trusts, fc.boolean(), fc.boolean(), (offer, trust, isFirstSight, isLocked) => {
      const own = (_: unknown, name: string): Fingerprint | undefined =>
        offer.find((each) => each.name === name)?.fingerprint;
      const verdict = judgeOffer(
        offer,
        grounds({ trust, isFirstSight, approved: own, refused: own, ...(isLocked && { locked: own }) }),
      );
      expect(verdict.taken).toEqual([]);
      expect(verdict.held).toHaveLength(offer.length);
    }),
  );
});

test('with a lockfile exactly what it has is shown, and nothing is taken', () => {
  fc.assert(
    fc.property(offers, offers, trusts, fc.boolean(), (offer, locked, trust, isFirstSight) => {
      const find = (_: unknown, name: string): Fingerprint | undefined =>
        locked.find((each) => each.name === name)?.fingerprint;
      const { held, taken } = judgeOffer(offer, grounds({ trust, isFirstSight, locked: find }));
      expect(taken).toEqual([]);
      const same = offer.filter(({ name, fingerprint }) => find(undefined, name) === fingerprint);
      expect(held).toHaveLength(offer.length - same.length);
    }),
  );
});

describe('a fingerprint', () => {
  const definition = {
    name: 'a',
    title: 'A',
    description: 'does a',
    inputSchema: { type: 'object', properties: { path: { type: 'string', description: 'where' } } },
    outputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
  };
  const of = (changes: object): Fingerprint => approvalFingerprint(visibleOf({ ...definition, ...changes }));

  test.each([
    { name: 'b' },
    { title: 'B' },
    { description: 'does a ' },
    { inputSchema: { type: 'object', properties: { path: { type: 'string', description: 'where?' } } } },
    { outputSchema: { type: 'object', title: 'x' } },
    { annotations: { readOnlyHint: false } },
    { arguments: [{ name: 'a', description: 'b' }] },
  ])('changes with %j', (changes) => {
    expect(of(changes)).not.toBe(of({}));
  });

  test('does not change with what no model reads, or with the order of keys', () => {
    expect(of({ _meta: { a: 1 }, icons: [{ src: 'x' }] })).toBe(of({}));
    expect(approvalFingerprint(Object.fromEntries(Object.entries(definition).toReversed()))).toBe(of({}));
  });
});
