import { expect, test } from 'vitest';

import { tokenHint } from './token-hints.ts';

test.each([
  ['https://api.githubcopilot.com/mcp/', 'https://github.com/settings/personal-access-tokens'],
  ['https://mcp.linear.app/sse', 'https://linear.app/settings/account/security'],
  ['https://gitlab.com/api/v4/mcp', 'https://gitlab.com/-/user_settings/personal_access_tokens'],
])('%s has its page', (url, page) => {
  expect(tokenHint(url)).toBe(page);
});

test.each(['https://mcp.example.com/mcp', 'https://notgithub.com/', 'https://github.com.example.org/'])(
  '%s has none',
  (url) => {
    expect(tokenHint(url)).toBeUndefined();
  },
);
