import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { Cancellation } from '../../core/lib/cancellation.ts';
import type { ToolEntry } from '../../core/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../../core/ids.ts';
import { HeldCalls } from './held-calls.ts';
import type { CallApprovalRequest } from './call-approval-request.ts';

const entry: ToolEntry = {
  kind: 'tool',
  name: 'one__send' as ExposedName,
  upstream: 'one' as UpstreamName,
  fingerprint: 'f1' as Fingerprint,
  definition: { name: 'send' },
};
const request: CallApprovalRequest = {
  caller: { id: 'anna', via: 'http', profile: 'default' },
  entry,
  arguments: { to: 'x', n: 1 },
  policy: 'p1',
  rule: 'ask-first',
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const disconnected = (): Error => new Error('The client went away.');

describe('held calls', () => {
  test('held call: proceeds when approved and leaves the list', async () => {
    using heldCalls = new HeldCalls(Date.now);
    const held = heldCalls.hold(request, 1000, new Cancellation());
    const [listed] = heldCalls.list();
    expect(listed).toMatchObject({ call: { rule: 'ask-first' }, isOpen: true });
    expect(heldCalls.decide(listed!.id, 'approved')).toMatchObject({ id: listed!.id });
    expect(await held!.answer).toBe('approved');
    expect(heldCalls.list()).toEqual([]);
    expect(heldCalls.decide(listed!.id, 'approved')).toBeUndefined();
  });

  test('held call: does not reuse an approval for mrequest arguments with another digest', async () => {
    using heldCalls = new HeldCalls(Date.now);
    const shown = { ...request, arguments: { text: '•••' } };
    const client = new Cancellation();
    void heldCalls.hold({ ...shown, argumentsDigest: 'digest-1' }, 1000, client);
    client.cancel(disconnected());
    heldCalls.decide(heldCalls.list()[0]!.id, 'approved');
    void heldCalls.hold({ ...shown, argumentsDigest: 'digest-2' }, 1000, new Cancellation());
    expect(heldCalls.list()).toHaveLength(1);
    const again = heldCalls.hold({ ...shown, argumentsDigest: 'digest-1' }, 1000, new Cancellation());
    expect(await again!.answer).toBe('approved');
  });

  test('held call: ends as late after its timeout', async () => {
    using heldCalls = new HeldCalls(Date.now);
    const held = heldCalls.hold(request, 1000, new Cancellation());
    vi.advanceTimersByTime(1001);
    expect(await held!.answer).toBe('late');
    expect(heldCalls.list()).toEqual([]);
  });

  test('held call: needs its own approval beside an identical call', async () => {
    using heldCalls = new HeldCalls(Date.now);
    const [one, other] = [1, 2].map(() => heldCalls.hold(request, 1000, new Cancellation()));
    expect(heldCalls.list()).toHaveLength(2);
    heldCalls.decide(heldCalls.list()[0]!.id, 'approved');
    expect(await one!.answer).toBe('approved');
    vi.advanceTimersByTime(1001);
    expect(await other!.answer).toBe('late');
  });

  test('held call: is rejected beyond 50 held calls', () => {
    using heldCalls = new HeldCalls(Date.now);
    for (let n = 0; n < 50; n += 1)
      expect(heldCalls.hold({ ...request, arguments: { n } }, 1000, new Cancellation())).toBeDefined();
    expect(heldCalls.hold({ ...request, arguments: {} }, 1000, new Cancellation())).toBeUndefined();
  });
});

describe('approval for a disconnected client', () => {
  const approveInAbsence = (heldCalls: HeldCalls): void => {
    const cancellation = new Cancellation();
    heldCalls.hold(request, 1000, cancellation);
    cancellation.cancel(disconnected());
    const [listed] = heldCalls.list();
    expect(listed).toMatchObject({ isOpen: false });
    heldCalls.decide(listed!.id, 'approved');
  };

  test('late approval: applies once to the same call made again', async () => {
    using heldCalls = new HeldCalls(Date.now);
    approveInAbsence(heldCalls);
    const same = { ...request, arguments: { n: 1, to: 'x' } };
    expect(await heldCalls.hold(same, 1000, new Cancellation())!.answer).toBe('approved');
    heldCalls.hold(same, 1000, new Cancellation());
    expect(heldCalls.list()).toHaveLength(1);
  });

  test.each([
    ['other arguments', { arguments: { to: 'y', n: 1 } }],
    ['another caller', { caller: { ...request.caller, id: 'bob' } }],
    ['another profile', { caller: { ...request.caller, profile: 'other' } }],
    ['other rules', { policy: 'p2' }],
    ['another definition', { entry: { ...entry, fingerprint: 'f2' as Fingerprint } }],
  ])('late approval: does not apply with %s', (_, changes) => {
    using heldCalls = new HeldCalls(Date.now);
    approveInAbsence(heldCalls);
    heldCalls.hold({ ...request, ...changes }, 1000, new Cancellation());
    expect(heldCalls.list()).toHaveLength(1);
  });

  test('late approval: expires', () => {
    using heldCalls = new HeldCalls(Date.now);
    approveInAbsence(heldCalls);
    vi.advanceTimersByTime(1001);
    heldCalls.hold(request, 1000, new Cancellation());
    expect(heldCalls.list()).toHaveLength(1);
  });
});
