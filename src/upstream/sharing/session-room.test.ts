import { describe, expect, test } from 'vitest';

import type { UpstreamName } from '../../model/ids.ts';
import { whoLeaves } from './session-room.ts';
import type { UpstreamState } from '../state.ts';

const name = 'browser' as UpstreamName;

interface Seat {
  readonly state: UpstreamState;
  readonly inFlight: number;
  readonly at: number;
}

function seat(at: number, changes: { inFlight?: number; is?: 'idle' | 'waiting' | 'connecting' } = {}): Seat {
  const { inFlight = 0, is = 'waiting' } = changes;
  return { state: { at: is } as unknown as UpstreamState, inFlight, at }; // Only `at` is read.
}

function leaving(seats: Readonly<Record<string, Seat>>, max: number): string | undefined {
  return whoLeaves(name, { occupants: new Map(Object.entries(seats)), max, usedAt: ({ at }) => at });
}

describe('room for sessions', () => {
  test('nobody leaves while there is room', () => {
    expect(leaving({ a: seat(1) }, 2)).toBeUndefined();
  });

  test('the longest idle one leaves', () => {
    expect(leaving({ a: seat(3), b: seat(1), c: seat(2) }, 3)).toBe('b');
  });

  test('one with calls in flight or just starting never leaves', () => {
    expect(leaving({ a: seat(1, { inFlight: 1 }), b: seat(2, { is: 'connecting' }), c: seat(3) }, 3)).toBe(
      'c',
    );
  });

  test('one whose process was stopped takes no room', () => {
    expect(leaving({ a: seat(1, { is: 'idle' }), b: seat(2) }, 2)).toBeUndefined();
  });

  test('when everybody is busy, that is said', () => {
    expect(() => leaving({ a: seat(1, { inFlight: 2 }) }, 1)).toThrow(
      expect.objectContaining({ code: 'UPSTREAM_BUSY', details: { upstream: name, retryAfterMs: 1000 } }),
    );
  });
});
