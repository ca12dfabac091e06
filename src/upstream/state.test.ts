import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { GatewayError } from '../model/errors.ts';
import { HttpStatusError } from '../wire/stream.ts';
import { transition } from './state.ts';
import type { UpstreamEvent, UpstreamState } from './state.ts';

const server = { era: 'legacy', protocol: '2025-11-25', info: {}, capabilities: {} } as const;
const passing = new GatewayError('UPSTREAM_UNAVAILABLE', 'not now');
const lasting = new GatewayError('UPSTREAM_REFUSED', 'not ever');
const signIn = new GatewayError('UPSTREAM_NEEDS_AUTH', 'who are you');
const unseen = new GatewayError('QUARANTINED', 'somebody has to look');

const states: Readonly<Record<UpstreamState['at'], UpstreamState>> = {
  idle: { at: 'idle' },
  connecting: { at: 'connecting', attempt: 3, since: 0 },
  ready: { at: 'ready', attempt: 3, server, since: 0 },
  waiting: { at: 'waiting', attempt: 3, retryAt: 500, error: passing },
  'needs-auth': { at: 'needs-auth', error: signIn },
  held: { at: 'held', error: unseen },
  failed: { at: 'failed', error: lasting },
  closed: { at: 'closed' },
};
const lost = { type: 'lost', error: passing, now: 9999, retryAt: 20_000, served: false } as const;
const events: Readonly<Record<UpstreamEvent['type'], UpstreamEvent>> = {
  connect: { type: 'connect', now: 7 },
  connected: { type: 'connected', server, now: 8 },
  refused: { type: 'refused', error: passing, retryAt: 900 },
  lost,
  idle: { type: 'idle' },
  close: { type: 'close' },
};

/** What each state becomes; a dash is a bug of the owner and throws. */
const table: Readonly<
  Record<UpstreamState['at'], Readonly<Record<UpstreamEvent['type'], UpstreamState['at'] | '-'>>>
> = {
  idle: { connect: 'connecting', connected: '-', refused: '-', lost: '-', idle: '-', close: 'closed' },
  connecting: { connect: '-', connected: 'ready', refused: 'waiting', lost: '-', idle: '-', close: 'closed' },
  ready: { connect: '-', connected: '-', refused: '-', lost: 'waiting', idle: 'idle', close: 'closed' },
  waiting: { connect: 'connecting', connected: '-', refused: '-', lost: '-', idle: '-', close: 'closed' },
  'needs-auth': {
    connect: 'connecting',
    connected: '-',
    refused: '-',
    lost: '-',
    idle: '-',
    close: 'closed',
  },
  held: { connect: 'connecting', connected: '-', refused: '-', lost: '-', idle: '-', close: 'closed' },
  failed: { connect: 'connecting', connected: '-', refused: '-', lost: '-', idle: '-', close: 'closed' },
  closed: { connect: '-', connected: '-', refused: '-', lost: '-', idle: '-', close: 'closed' },
};

function names<K extends string>(record: Readonly<Record<K, unknown>>): readonly K[] {
  return Object.keys(record) as K[];
}

const cases = names(states).flatMap((at) =>
  names(events).map((type) => [at, type, table[at][type]] as const),
);

describe('transition', () => {
  test.each(cases)('%s with %s gives %s', (at, type, expected) => {
    if (expected === '-') expect(() => transition(states[at], events[type])).toThrow(/cannot take/);
    else expect(transition(states[at], events[type]).at).toBe(expected);
  });

  test('keeps what was learned on the way', () => {
    expect(transition(states.idle, events.connect)).toEqual({ at: 'connecting', attempt: 1, since: 7 });
    expect(transition(states.waiting, events.connect)).toEqual({
      at: 'connecting',
      attempt: 4,
      since: 7,
      error: passing,
    });
    expect(transition(states.connecting, events.connected)).toEqual({
      at: 'ready',
      attempt: 3,
      server,
      since: 8,
    });
    expect(transition(states.connecting, events.refused)).toEqual({
      at: 'waiting',
      attempt: 3,
      retryAt: 900,
      error: passing,
    });
    expect(transition(states.ready, lost)).toEqual({
      at: 'waiting',
      attempt: 3,
      retryAt: 20_000,
      error: passing,
    });
  });

  test('counts anew when a person asks', () => {
    const asked = { type: 'connect', now: 7, isFresh: true } as const;
    for (const at of ['waiting', 'failed', 'needs-auth', 'held', 'idle'] as const) {
      expect(transition(states[at], asked)).toEqual({ at: 'connecting', attempt: 1, since: 7 });
    }
  });

  test.each(['refused', 'lost'] as const)('parks what waiting cannot mend when it was %s', (type) => {
    const from = type === 'refused' ? states.connecting : states.ready;
    expect(transition(from, { ...events[type], error: lasting } as UpstreamEvent)).toEqual({
      at: 'failed',
      error: lasting,
    });
    expect(transition(from, { ...events[type], error: signIn } as UpstreamEvent)).toEqual({
      at: 'needs-auth',
      error: signIn,
    });
    expect(transition(from, { ...events[type], error: unseen } as UpstreamEvent)).toEqual({
      at: 'held',
      error: unseen,
    });
  });

  test.each([
    ['UPSTREAM_PROTOCOL', undefined],
    ['UPSTREAM_REFUSED', new HttpStatusError(404, {}, '')],
  ] as const)('tries again where an address answered with something else, as %s', (code, cause) => {
    const error = new GatewayError(code, 'something else', { cause });
    expect(transition(states.connecting, { type: 'refused', error, retryAt: 5 })).toEqual({
      ...{ at: 'waiting', attempt: 3, retryAt: 5 },
      error,
    });
  });

  test.each([
    ['lived for ten seconds', { ...lost, now: 10_000 }],
    ['answered a call', { ...lost, now: 1, served: true }],
  ])('forgets the count of failures when the connection %s', (_, event) => {
    expect(transition(states.ready, event)).toEqual({ at: 'idle' });
  });

  test('whatever the history, closed is final', () => {
    const errors = fc.constantFrom(passing, lasting, signIn, unseen);
    const times = fc.nat(100_000);
    const anyEvent: fc.Arbitrary<UpstreamEvent> = fc.oneof(
      fc.record({ type: fc.constant('connect' as const), now: times }),
      fc.record({ type: fc.constant('connected' as const), server: fc.constant(server), now: times }),
      fc.record({ type: fc.constant('refused' as const), error: errors, retryAt: times }),
      fc.record({
        type: fc.constant('lost' as const),
        error: errors,
        now: times,
        retryAt: times,
        served: fc.boolean(),
      }),
      fc.record({ type: fc.constant('idle' as const) }),
      fc.record({ type: fc.constant('close' as const) }),
    );
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 40 }), (history) => {
        let state: UpstreamState = { at: 'idle' };
        let wasClosed = false;
        for (const event of history) {
          const before = state;
          try {
            state = transition(state, event);
          } catch (error) {
            expect(error).toMatchObject({ code: 'INVARIANT' });
            expect(state).toBe(before);
          }
          wasClosed ||= event.type === 'close';
          expect(state.at === 'closed').toBe(wasClosed);
          if (state.at === 'waiting') expect(state.error).toBe(passing);
          if ('attempt' in state) expect(state.attempt).toBeGreaterThanOrEqual(1);
        }
      }),
    );
  });
});

test('whoever is signed out needs a person, however long the connection was good', () => {
  const event = { ...lost, error: signIn, served: true, now: 1e9 };
  expect(transition(states.ready, event)).toEqual({ at: 'needs-auth', error: signIn });
});
