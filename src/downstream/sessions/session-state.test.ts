import { expect, test } from 'vitest';

import { NEW_SESSION, changedState, readState } from './session-state.ts';
import type { SessionChange } from './session-state.ts';

test('changes add up, and what changes nothing is the same state', () => {
  const changes: SessionChange[] = [
    { level: 'info' },
    { follow: 'a' },
    { follow: 'b' },
    { unfollow: 'a' },
    { reveal: ['x', 'y'] },
    { reveal: ['y', 'z'] },
  ];
  const state = changes.reduce(changedState, NEW_SESSION);
  expect(state).toEqual({ level: 'info', follows: ['b'], revealed: ['x', 'y', 'z'] });
  for (const again of [{ level: 'info' }, { follow: 'b' }, { unfollow: 'a' }, { reveal: ['x'] }])
    expect(changedState(state, again)).toBe(state);
});

test('what was written is read again, and nonsense is a new session', () => {
  const state = { level: 'error', follows: ['a'], revealed: ['x'] };
  expect(readState(JSON.parse(JSON.stringify(state)))).toEqual(state);
  for (const odd of [undefined, null, 7, [], { level: 'loud', follows: 'a', revealed: [7] }])
    expect(readState(odd)).toEqual(NEW_SESSION);
});

test('it is bounded', () => {
  const many = Array.from({ length: 5000 }, (_, n) => `${n}`);
  expect(changedState(NEW_SESSION, { reveal: many }).revealed).toHaveLength(2000);
  const followed = many.reduce((state, follow) => changedState(state, { follow }), NEW_SESSION);
  expect(followed.follows).toHaveLength(1000);
});
