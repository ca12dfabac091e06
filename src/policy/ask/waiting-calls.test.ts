import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { Cancellation } from '../../lib/cancellation.ts';
import type { ToolEntry } from '../../model/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../../model/ids.ts';
import { WaitingCalls } from './waiting-calls.ts';
import type { AskedCall } from './waiting-calls.ts';

const entry: ToolEntry = {
  kind: 'tool',
  name: 'one__send' as ExposedName,
  upstream: 'one' as UpstreamName,
  fingerprint: 'f1' as Fingerprint,
  definition: { name: 'send' },
};
const asked: AskedCall = {
  caller: { id: 'anna', via: 'http', profile: 'default' },
  entry,
  arguments: { to: 'x', n: 1 },
  policy: 'p1',
  rule: 'ask-first',
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const gone = (): Error => new Error('The client went away.');

describe('a call that waits', () => {
  test('goes on when a person says so, and is listed no more', async () => {
    using waiting = new WaitingCalls(Date.now);
    const wait = waiting.wait(asked, 1000, new Cancellation());
    const [listed] = waiting.list();
    expect(listed).toMatchObject({ call: { rule: 'ask-first' }, isOpen: true });
    expect(waiting.decide(listed!.id, 'approved')).toMatchObject({ id: listed!.id });
    expect(await wait!.answer).toBe('approved');
    expect(waiting.list()).toEqual([]);
    expect(waiting.decide(listed!.id, 'approved')).toBeUndefined();
  });

  test('that is shown masked gets no yes that was meant for another that looks alike', async () => {
    using waiting = new WaitingCalls(Date.now);
    const shown = { ...asked, arguments: { text: '•••' } };
    const client = new Cancellation();
    void waiting.wait({ ...shown, given: 'digest-1' }, 1000, client);
    client.cancel(gone());
    waiting.decide(waiting.list()[0]!.id, 'approved');
    void waiting.wait({ ...shown, given: 'digest-2' }, 1000, new Cancellation());
    expect(waiting.list()).toHaveLength(1);
    const again = waiting.wait({ ...shown, given: 'digest-1' }, 1000, new Cancellation());
    expect(await again!.answer).toBe('approved');
  });

  test('is over when the time is', async () => {
    using waiting = new WaitingCalls(Date.now);
    const wait = waiting.wait(asked, 1000, new Cancellation());
    vi.advanceTimersByTime(1001);
    expect(await wait!.answer).toBe('late');
    expect(waiting.list()).toEqual([]);
  });

  test('each needs its own yes, also beside its twin', async () => {
    using waiting = new WaitingCalls(Date.now);
    const [one, other] = [1, 2].map(() => waiting.wait(asked, 1000, new Cancellation()));
    expect(waiting.list()).toHaveLength(2);
    waiting.decide(waiting.list()[0]!.id, 'approved');
    expect(await one!.answer).toBe('approved');
    vi.advanceTimersByTime(1001);
    expect(await other!.answer).toBe('late');
  });

  test('beyond the bound is not taken', () => {
    using waiting = new WaitingCalls(Date.now);
    for (let n = 0; n < 50; n += 1)
      expect(waiting.wait({ ...asked, arguments: { n } }, 1000, new Cancellation())).toBeDefined();
    expect(waiting.wait({ ...asked, arguments: {} }, 1000, new Cancellation())).toBeUndefined();
  });
});

describe('the yes for a client that has gone', () => {
  const approvedInAbsence = (waiting: WaitingCalls): void => {
    const cancellation = new Cancellation();
    waiting.wait(asked, 1000, cancellation);
    cancellation.cancel(gone());
    const [left] = waiting.list();
    expect(left).toMatchObject({ isOpen: false });
    waiting.decide(left!.id, 'approved');
  };

  test('is found by the same call, once', async () => {
    using waiting = new WaitingCalls(Date.now);
    approvedInAbsence(waiting);
    const same = { ...asked, arguments: { n: 1, to: 'x' } };
    expect(await waiting.wait(same, 1000, new Cancellation())!.answer).toBe('approved');
    waiting.wait(same, 1000, new Cancellation());
    expect(waiting.list()).toHaveLength(1);
  });

  test.each([
    ['other arguments', { arguments: { to: 'y', n: 1 } }],
    ['another caller', { caller: { ...asked.caller, id: 'bob' } }],
    ['another profile', { caller: { ...asked.caller, profile: 'other' } }],
    ['other rules', { policy: 'p2' }],
    ['another definition', { entry: { ...entry, fingerprint: 'f2' as Fingerprint } }],
  ])('does not hold for %s', (_, changes) => {
    using waiting = new WaitingCalls(Date.now);
    approvedInAbsence(waiting);
    waiting.wait({ ...asked, ...changes }, 1000, new Cancellation());
    expect(waiting.list()).toHaveLength(1);
  });

  test('expires', () => {
    using waiting = new WaitingCalls(Date.now);
    approvedInAbsence(waiting);
    vi.advanceTimersByTime(1001);
    waiting.wait(asked, 1000, new Cancellation());
    expect(waiting.list()).toHaveLength(1);
  });
});
