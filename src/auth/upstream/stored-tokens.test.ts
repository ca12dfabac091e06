import { expect, test } from 'vitest';

import { renewalTime } from './stored-tokens.ts';

const tokens = { url: 'https://x.example/mcp', accessToken: 'a', flow: 'browser' } as const;

test('tokens are renewed at four fifths of their life', () => {
  expect(renewalTime({ ...tokens, obtainedAt: 10_000, expiresAt: 20_000 })).toBe(18_000);
});

test('tokens that do not say when they end are not renewed before they are refused', () => {
  expect(renewalTime({ ...tokens, obtainedAt: 10_000 })).toBeUndefined();
});
