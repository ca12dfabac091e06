import { expect, test } from 'vitest';

import { findTokenPage } from './token-pages.ts';

test.each([
  ['https://api.githubcopilot.com/mcp/', 'https://github.com/settings/personal-access-tokens'],
  ['https://mcp.linear.app/sse', 'https://linear.app/settings/account/security'],
  ['https://gitlab.com/api/v4/mcp', 'https://gitlab.com/-/user_settings/personal_access_tokens'],
  ['https://mcp.sentry.dev/mcp', 'https://sentry.io/settings/account/api/auth-tokens/'],
  ['https://mcp.notion.com/mcp', 'https://www.notion.so/profile/integrations'],
  ['https://mcp.slack.com/mcp', 'https://api.slack.com/apps'],
  ['https://me.grafana.net/api/mcp', expect.stringContaining('grafana.com/docs')],
  ['https://mcp.atlassian.com/v1/sse', 'https://id.atlassian.com/manage-profile/security/api-tokens'],
  ['https://me.atlassian.net/mcp', 'https://id.atlassian.com/manage-profile/security/api-tokens'],
  ['https://observability.mcp.cloudflare.com/sse', 'https://dash.cloudflare.com/profile/api-tokens'],
  ['https://mcp.datadoghq.com/api/mcp', 'https://app.datadoghq.com/organization-settings/api-keys'],
  ['https://mcp.datadoghq.eu/api/mcp', 'https://app.datadoghq.eu/organization-settings/api-keys'],
  ['https://mcp.pagerduty.com/mcp', expect.stringContaining('support.pagerduty.com')],
  ['https://mcp.honeycomb.io/mcp', 'https://ui.honeycomb.io/account'],
])('token hint: links %s to its token page', (url, page) => {
  expect(findTokenPage(url)).toEqual(page);
});

test.each(['https://mcp.example.com/mcp', 'https://notgithub.com/', 'https://github.com.example.org/'])(
  'token hint: has no page for %s',
  (url) => {
    expect(findTokenPage(url)).toBeUndefined();
  },
);
