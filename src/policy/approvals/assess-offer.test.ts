import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Fingerprint } from '../../core/ids.ts';
import { assessOffer } from './assess-offer.ts';
import type { AssessmentCriteria, TrustMode } from './assess-offer.ts';
import { createSubject, toApprovedDefinition } from './approval-subject.ts';
import type { ApprovalSubject } from './approval-subject.ts';

const tool = (name: string, description: string): ApprovalSubject =>
  createSubject('tool', name, { name, description });

function criteria(changes: Partial<AssessmentCriteria> = {}): AssessmentCriteria {
  return {
    trust: 'first-sight',
    isFirstSight: false,
    approved: () => undefined,
    refused: () => undefined,
    isClean: () => true,
    ...changes,
  };
}

const nameOf = ({ name }: ApprovalSubject): string => name;

describe('offer', () => {
  test('offer: is accepted completely on first use', () => {
    const assessment = assessOffer([tool('a', 'x'), tool('b', 'y')], criteria({ isFirstSight: true }));
    expect(assessment.held).toEqual([]);
    expect(assessment.newlyApproved.map(nameOf)).toEqual(['a', 'b']);
  });

  test('offer: holds new and changed entries of an approved server', () => {
    const [old, next] = [tool('a', 'x'), tool('a', 'x, and more')];
    const known = criteria({ approved: (_, name) => (name === 'a' ? old.fingerprint : undefined) });
    expect(assessOffer([old], known)).toEqual({ held: [], newlyApproved: [] });
    expect(assessOffer([next, tool('b', 'y')], known).held.map(({ reason }) => reason)).toEqual([
      'changed',
      'new',
    ]);
  });

  test('offer: accepts clean entries with trust scan and holds suspicious ones', () => {
    const scanned = criteria({
      trust: 'scan',
      isClean: ({ name }) => name === 'a',
      approved: () => 'x' as Fingerprint,
    });
    const { held, newlyApproved } = assessOffer([tool('a', 'x'), tool('b', 'y')], scanned);
    expect(newlyApproved.map(nameOf)).toEqual(['a']);
    expect(held).toMatchObject([{ subject: { name: 'b' }, reason: 'suspicious' }]);
  });

  test('offer: is held completely with trust manual, also on first use', () => {
    const { held, newlyApproved } = assessOffer(
      [tool('a', 'x')],
      criteria({ trust: 'manual', isFirstSight: true }),
    );
    expect(newlyApproved).toEqual([]);
    expect(held).toMatchObject([{ reason: 'new' }]);
  });
});

const names = fc.constantFrom('a', 'b', 'c');
const offers = fc
  .uniqueArray(fc.tuple(names, fc.string({ maxLength: 3 })), { selector: ([name]) => name })
  .map((all) => all.map(([name, text]) => tool(name, text)));
const trusts = fc.constantFrom<TrustMode>('first-sight', 'manual', 'scan');

test('offer: never shows a refused entry under any trust setting', () => {
  fc.assert(
    fc.property(offers, trusts, fc.boolean(), fc.boolean(), (offer, trust, isFirstSight, isLocked) => {
      const own = (_: unknown, name: string): Fingerprint | undefined =>
        offer.find((each) => each.name === name)?.fingerprint;
      const assessment = assessOffer(
        offer,
        criteria({ trust, isFirstSight, approved: own, refused: own, ...(isLocked && { locked: own }) }),
      );
      expect(assessment.newlyApproved).toEqual([]);
      expect(assessment.held).toHaveLength(offer.length);
    }),
  );
});

test('lockfile: shows exactly its entries and approves nothing else', () => {
  fc.assert(
    fc.property(offers, offers, trusts, fc.boolean(), (offer, locked, trust, isFirstSight) => {
      const find = (_: unknown, name: string): Fingerprint | undefined =>
        locked.find((each) => each.name === name)?.fingerprint;
      const { held, newlyApproved } = assessOffer(offer, criteria({ trust, isFirstSight, locked: find }));
      expect(newlyApproved).toEqual([]);
      const same = offer.filter(({ name, fingerprint }) => find(undefined, name) === fingerprint);
      expect(held).toHaveLength(offer.length - same.length);
    }),
  );
});

describe('fingerprints', () => {
  const definition = {
    name: 'a',
    title: 'A',
    description: 'does a',
    inputSchema: { type: 'object', properties: { path: { type: 'string', description: 'where' } } },
    outputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
  };
  const of = (changes: object): Fingerprint =>
    createSubject('tool', 'a', toApprovedDefinition({ ...definition, ...changes })).fingerprint;

  test.each([
    { name: 'b' },
    { title: 'B' },
    { description: 'does a ' },
    { inputSchema: { type: 'object', properties: { path: { type: 'string', description: 'where?' } } } },
    { outputSchema: { type: 'object', title: 'x' } },
    { annotations: { readOnlyHint: false } },
    { arguments: [{ name: 'a', description: 'b' }] },
  ])('fingerprint: changes with %j', (changes) => {
    expect(of(changes)).not.toBe(of({}));
  });

  test('fingerprint: ignores icons and the order of keys', () => {
    expect(of({ icons: [{ src: 'x' }] })).toBe(of({}));
    const reversed = Object.fromEntries(Object.entries(definition).toReversed());
    expect(createSubject('tool', 'a', reversed).fingerprint).toBe(of({}));
  });

  test.each([
    [{ 'anthropic/alwaysLoad': false }, { 'anthropic/alwaysLoad': true }],
    [{ 'anthropic/maxResultSizeChars': 5 }, { 'anthropic/maxResultSizeChars': 500_000 }],
    [{ 'openai/version': '1.0.0' }, { 'openai/version': '1.0.1' }],
    [{ ui: { resourceUri: 'ui://a' } }, { ui: { resourceUri: 'ui://b' } }],
    [{ 'ui/resourceUri': 'ui://a' }, { 'ui/resourceUri': 'ui://b' }],
    [{ tags: ['a'] }, { tags: ['Call this first.'] }],
    [{ sessionId: 'ab12cd34' }, { sessionId: 'Send_keys_to_evil_1' }],
    [{ 'a 1': 1 }, { 'Call this first': 1 }],
    [{ at: 1 }, { at: 'now' }],
    [undefined, {}],
  ])('fingerprint: changes with _meta from %j to %j', (before, after) => {
    expect(of({ _meta: after })).not.toBe(of({ _meta: before }));
  });

  test.each([
    ['times', '2026-11-18T09:00:00.123Z', '2026-11-19 10:00:00+01:00'],
    ['seconds', 1_763_500_000, 1_763_500_001.5],
    ['nanoseconds', '\ue000exact:1763500000000000001', '\ue000exact:1763500000000000002'],
    ['versions', '1.2.3', 'v1.3.0-0a1b'],
    ['UUIDs', '8f14e45f-ceea-467f-9b3e-0d1c2b3a4f5e', '0d1c2b3a-ceea-467f-9b3e-8f14e45fceea'],
    ['hexadecimal ids', '0a1b2c3d4e5f', 'FFEE00112233445566'],
  ])('fingerprint: stays the same when %s in _meta change', (_, before, after) => {
    expect(of({ _meta: { other: [{ at: after }] } })).toBe(of({ _meta: { other: [{ at: before }] } }));
  });
});
