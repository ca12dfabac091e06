import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { GatewayError } from '../core/errors.ts';
import { HttpStatusError } from '../protocol/client-transport.ts';
import { RetrySchedule, transition } from './upstream-state.ts';
import type { UpstreamEvent, UpstreamState } from './upstream-state.ts';

const server = { era: 'legacy', protocol: '2025-11-25', info: {}, capabilities: {} } as const;
const temporaryError = new GatewayError('UPSTREAM_UNAVAILABLE', 'not now');
const permanentError = new GatewayError('UPSTREAM_REFUSED', 'not ever');
const signInError = new GatewayError('UPSTREAM_NEEDS_AUTH', 'who are you');
const heldError = new GatewayError('QUARANTINED', 'somebody has to look');

const states: Readonly<Record<UpstreamState['kind'], UpstreamState>> = {
  idle: { kind: 'idle' },
  connecting: { kind: 'connecting', attempt: 3, since: 0 },
  ready: { kind: 'ready', attempt: 3, server, since: 0 },
  waiting: { kind: 'waiting', attempt: 3, retryAt: 500, error: temporaryError },
  'needs-auth': { kind: 'needs-auth', error: signInError },
  held: { kind: 'held', error: heldError },
  failed: { kind: 'failed', error: permanentError },
  closed: { kind: 'closed' },
};
const lost = { type: 'lost', error: temporaryError, now: 9999, retryAt: 20_000, hasServed: false } as const;
const events: Readonly<Record<UpstreamEvent['type'], UpstreamEvent>> = {
  connect: { type: 'connect', now: 7 },
  install: { type: 'install' },
  connected: { type: 'connected', server, now: 8 },
  refused: { type: 'refused', error: temporaryError, retryAt: 900 },
  lost,
  idle: { type: 'idle' },
  close: { type: 'close' },
};

/** The next state for each event; a dash means that the event throws. */
const table: Readonly<
  Record<UpstreamState['kind'], Readonly<Record<UpstreamEvent['type'], UpstreamState['kind'] | '-'>>>
> = {
  idle: {
    connect: 'connecting',
    install: '-',
    connected: '-',
    refused: '-',
    lost: '-',
    idle: '-',
    close: 'closed',
  },
  connecting: {
    connect: '-',
    install: 'connecting',
    connected: 'ready',
    refused: 'waiting',
    lost: '-',
    idle: '-',
    close: 'closed',
  },
  ready: {
    connect: '-',
    install: '-',
    connected: '-',
    refused: '-',
    lost: 'waiting',
    idle: 'idle',
    close: 'closed',
  },
  waiting: {
    connect: 'connecting',
    install: '-',
    connected: '-',
    refused: '-',
    lost: '-',
    idle: '-',
    close: 'closed',
  },
  'needs-auth': {
    connect: 'connecting',
    install: '-',
    connected: '-',
    refused: '-',
    lost: '-',
    idle: '-',
    close: 'closed',
  },
  held: {
    connect: 'connecting',
    install: '-',
    connected: '-',
    refused: '-',
    lost: '-',
    idle: '-',
    close: 'closed',
  },
  failed: {
    connect: 'connecting',
    install: '-',
    connected: '-',
    refused: '-',
    lost: '-',
    idle: '-',
    close: 'closed',
  },
  closed: { connect: '-', install: '-', connected: '-', refused: '-', lost: '-', idle: '-', close: 'closed' },
};

function names<K extends string>(record: Readonly<Record<K, unknown>>): readonly K[] {
  return Object.keys(record) as K[];
}

const cases = names(states).flatMap((kind) =>
  names(events).map((type) => [kind, type, table[kind][type]] as const),
);

describe('transition', () => {
  test.each(cases)('state: %s with event %s gives %s', (kind, type, expected) => {
    if (expected === '-') expect(() => transition(states[kind], events[type])).toThrow(/cannot handle event/);
    else expect(transition(states[kind], events[type]).kind).toBe(expected);
  });

  test('state: an installation is part of the attempt', () => {
    const state = { kind: 'connecting', attempt: 3, since: 0, error: temporaryError } as const;
    expect(transition(state, events.install)).toEqual({ ...state, isInstalling: true });
  });

  test('state: keeps attempt, error and server facts across transitions', () => {
    expect(transition(states.idle, events.connect)).toEqual({ kind: 'connecting', attempt: 1, since: 7 });
    expect(transition(states.waiting, events.connect)).toEqual({
      kind: 'connecting',
      attempt: 4,
      since: 7,
      error: temporaryError,
    });
    expect(transition(states.connecting, events.connected)).toEqual({
      kind: 'ready',
      attempt: 3,
      server,
      since: 8,
    });
    expect(transition(states.connecting, events.refused)).toEqual({
      kind: 'waiting',
      attempt: 3,
      retryAt: 900,
      error: temporaryError,
    });
    expect(transition(states.ready, lost)).toEqual({
      kind: 'waiting',
      attempt: 3,
      retryAt: 20_000,
      error: temporaryError,
    });
  });

  test('state: resets the attempt counter on a manual retry', () => {
    const requested = { type: 'connect', now: 7, isFresh: true } as const;
    for (const kind of ['waiting', 'failed', 'needs-auth', 'held', 'idle'] as const) {
      expect(transition(states[kind], requested)).toEqual({ kind: 'connecting', attempt: 1, since: 7 });
    }
  });

  test.each(['refused', 'lost'] as const)(
    'state: moves to failed, needs-auth or held on a permanent error when %s',
    (type) => {
      const from = type === 'refused' ? states.connecting : states.ready;
      expect(transition(from, { ...events[type], error: permanentError } as UpstreamEvent)).toEqual({
        kind: 'failed',
        error: permanentError,
      });
      expect(transition(from, { ...events[type], error: signInError } as UpstreamEvent)).toEqual({
        kind: 'needs-auth',
        error: signInError,
      });
      expect(transition(from, { ...events[type], error: heldError } as UpstreamEvent)).toEqual({
        kind: 'held',
        error: heldError,
      });
    },
  );

  test.each([
    ['UPSTREAM_PROTOCOL', undefined],
    ['UPSTREAM_REFUSED', new HttpStatusError(404, {}, '')],
  ] as const)('state: retries after a foreign response with %s', (code, cause) => {
    const error = new GatewayError(code, 'something else', { cause });
    expect(transition(states.connecting, { type: 'refused', error, retryAt: 5 })).toEqual({
      kind: 'waiting',
      attempt: 3,
      retryAt: 5,
      error,
    });
  });

  test.each([
    ['lived for ten seconds', { ...lost, now: 10_000 }],
    ['answered a call', { ...lost, now: 1, hasServed: true }],
  ])('state: resets the attempt counter when the connection %s', (_, event) => {
    expect(transition(states.ready, event)).toEqual({ kind: 'idle' });
  });

  test('state: closed is final in any history', () => {
    const errors = fc.constantFrom(temporaryError, permanentError, signInError, heldError);
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
        hasServed: fc.boolean(),
      }),
      fc.record({ type: fc.constant('idle' as const) }),
      fc.record({ type: fc.constant('close' as const) }),
    );
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 40 }), (history) => {
        let state: UpstreamState = { kind: 'idle' };
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
          expect(state.kind === 'closed').toBe(wasClosed);
          if (state.kind === 'waiting') expect(state.error).toBe(temporaryError);
          if ('attempt' in state) expect(state.attempt).toBeGreaterThanOrEqual(1);
        }
      }),
    );
  });
});

test('state: moves to needs-auth when signed out, even after a long connection', () => {
  const event = { ...lost, error: signInError, hasServed: true, now: 1e9 };
  expect(transition(states.ready, event)).toEqual({ kind: 'needs-auth', error: signInError });
});

describe('RetrySchedule', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const delays = (random: () => number): readonly number[] => {
    const retries = new RetrySchedule({ now: () => 1000, random, onDue: () => {} });
    return Array.from({ length: 12 }, (_, at) => retries.retryTimeAfter(at + 1) - 1000);
  };

  test('retry: doubles the maximum delay with each failure, up to a minute', () => {
    expect(delays(() => 1)).toEqual([500, 1e3, 2e3, 4e3, 8e3, 16e3, 32e3, 6e4, 6e4, 6e4, 6e4, 6e4]);
  });

  test('retry: randomizes the delay to avoid a thundering herd', () => {
    expect(delays(() => 0.5)).toEqual(delays(() => 1).map((pause) => pause / 2));
  });

  test('retry: reconnects about twice a minute to a server that stays down, until cancelled', () => {
    let attempt = 1;
    const error = new GatewayError('UPSTREAM_UNAVAILABLE', 'down');
    const retry = (): void => {
      attempt++;
      scheduleNext();
    };
    const retries = new RetrySchedule({ now: Date.now, random: () => 0.5, onDue: retry });
    const scheduleNext = (): void =>
      retries.schedule({
        kind: 'waiting',
        error,
        attempt,
        retryAt: retries.retryTimeAfter(attempt),
      } as never);
    scheduleNext();
    vi.advanceTimersByTime(3_600_000);
    expect(attempt).toBeGreaterThan(100);
    expect(attempt).toBeLessThan(140);
    retries.cancel();
    const before = attempt;
    vi.advanceTimersByTime(3_600_000);
    expect(attempt).toBe(before);
  });
});
