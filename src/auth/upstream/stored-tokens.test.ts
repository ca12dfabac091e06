import { expect, test } from 'vitest';

import { refreshTime } from './stored-tokens.ts';

const tokens = { url: 'https://x.example/mcp', accessToken: 'a', flow: 'browser' } as const;

test('refresh time: is at 80 % of the token lifetime', () => {
  expect(refreshTime({ ...tokens, obtainedAt: 10_000, expiresAt: 20_000 })).toBe(18_000);
});

test('refresh time: is undefined for tokens without an expiry', () => {
  expect(refreshTime({ ...tokens, obtainedAt: 10_000 })).toBeUndefined();
});
