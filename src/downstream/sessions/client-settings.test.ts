import { expect, test } from 'vitest';

import { DEFAULT_CLIENT_SETTINGS, applySettingsChange, parseClientSettings } from './client-settings.ts';
import type { ClientSettingsChange } from './client-settings.ts';

test('session state: accumulates changes and stays the same object without a change', () => {
  const changes: ClientSettingsChange[] = [
    { level: 'info' },
    { follow: 'a' },
    { follow: 'b' },
    { unfollow: 'a' },
    { reveal: ['x', 'y'] },
    { reveal: ['y', 'z'] },
  ];
  const state = changes.reduce(applySettingsChange, DEFAULT_CLIENT_SETTINGS);
  expect(state).toEqual({ level: 'info', follows: ['b'], revealed: ['x', 'y', 'z'] });
  for (const again of [{ level: 'info' }, { follow: 'b' }, { unfollow: 'a' }, { reveal: ['x'] }])
    expect(applySettingsChange(state, again)).toBe(state);
});

test('session state: is read back as written and starts empty from invalid data', () => {
  const state = { level: 'error', follows: ['a'], revealed: ['x'] };
  expect(parseClientSettings(JSON.parse(JSON.stringify(state)))).toEqual(state);
  for (const odd of [undefined, null, 7, [], { level: 'loud', follows: 'a', revealed: [7] }])
    expect(parseClientSettings(odd)).toEqual(DEFAULT_CLIENT_SETTINGS);
});

test('session state: limits revealed tools and subscriptions', () => {
  const many = Array.from({ length: 5000 }, (_, n) => `${n}`);
  expect(applySettingsChange(DEFAULT_CLIENT_SETTINGS, { reveal: many }).revealed).toHaveLength(2000);
  const followed = many.reduce(
    (state, follow) => applySettingsChange(state, { follow }),
    DEFAULT_CLIENT_SETTINGS,
  );
  expect(followed.follows).toHaveLength(1000);
});
