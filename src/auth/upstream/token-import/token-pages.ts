/** Pages on which people create a token by hand, by the domain of the service. */
const TOKEN_PAGES: readonly (readonly [string, string])[] = [
  ['githubcopilot.com', 'https://github.com/settings/personal-access-tokens'],
  ['github.com', 'https://github.com/settings/personal-access-tokens'],
  ['gitlab.com', 'https://gitlab.com/-/user_settings/personal_access_tokens'],
  ['sentry.dev', 'https://sentry.io/settings/account/api/auth-tokens/'],
  ['sentry.io', 'https://sentry.io/settings/account/api/auth-tokens/'],
  ['linear.app', 'https://linear.app/settings/account/security'],
  ['notion.com', 'https://www.notion.so/profile/integrations'],
  ['notion.so', 'https://www.notion.so/profile/integrations'],
  ['slack.com', 'https://api.slack.com/apps'],
  ['grafana.net', 'https://grafana.com/docs/grafana/latest/administration/service-accounts/'],
  ['atlassian.com', 'https://id.atlassian.com/manage-profile/security/api-tokens'],
  ['atlassian.net', 'https://id.atlassian.com/manage-profile/security/api-tokens'],
  ['cloudflare.com', 'https://dash.cloudflare.com/profile/api-tokens'],
  ['datadoghq.com', 'https://app.datadoghq.com/organization-settings/api-keys'],
  ['datadoghq.eu', 'https://app.datadoghq.eu/organization-settings/api-keys'],
  ['pagerduty.com', 'https://support.pagerduty.com/main/docs/api-access-keys'],
  ['honeycomb.io', 'https://ui.honeycomb.io/account'],
  ['huggingface.co', 'https://huggingface.co/settings/tokens'],
  ['stripe.com', 'https://dashboard.stripe.com/apikeys'],
  ['supabase.com', 'https://supabase.com/dashboard/account/tokens'],
];

/** Returns the token page of the service behind an address, or undefined for an unknown service. */
export function findTokenPage(url: string): string | undefined {
  const { hostname } = new URL(url);
  return TOKEN_PAGES.find(([domain]) => hostname === domain || hostname.endsWith(`.${domain}`))?.[1];
}
