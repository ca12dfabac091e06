import type { UpstreamAuth } from './config.ts';
import type { AuthEntry } from './schema/auth-schema.ts';

/** What holds for a server whose entry says nothing about signing in. */
const USUAL: UpstreamAuth = {
  flow: 'browser',
  per: 'server',
  scopes: [],
  callbackPort: { first: 7340, last: 7359 },
  allowPrivate: false,
};

/** Fields that may hold references. */
export const AUTH_TEXTS = [
  'clientId',
  'clientSecret',
  'privateKey',
  'keyId',
  'clientMetadataUrl',
  'issuer',
] as const;

export function readAuth(entry: AuthEntry | undefined): UpstreamAuth {
  if (entry === undefined) return USUAL;
  const { flow, per, scopes, callbackPort, allowPrivate } = entry;
  const given = AUTH_TEXTS.flatMap((key) => (entry[key] === undefined ? [] : [[key, entry[key]] as const]));
  return { flow, per, scopes, callbackPort, allowPrivate, ...Object.fromEntries(given) };
}

/** What does not go together. */
export function authProblems(
  entry: AuthEntry,
): readonly { readonly key: string; readonly message: string }[] {
  const problems: { key: string; message: string }[] = [];
  const has = (key: (typeof AUTH_TEXTS)[number]): boolean => entry[key] !== undefined;
  for (const key of ['clientSecret', 'privateKey'] as const) {
    if (has(key) && !has('clientId')) problems.push({ key, message: `"auth.${key}" needs "auth.clientId"` });
  }
  if (has('clientSecret') && has('privateKey'))
    problems.push({
      key: 'privateKey',
      message: 'it has both "auth.clientSecret" and "auth.privateKey"; keep one',
    });
  if (entry.flow === 'client-credentials' && !has('clientSecret') && !has('privateKey')) {
    const message =
      '"auth.flow": "client-credentials" needs "clientId" and either "clientSecret" or "privateKey"';
    problems.push({ key: 'flow', message });
  }
  if (entry.flow === 'client-credentials' && entry.per === 'caller')
    problems.push({
      key: 'per',
      message: 'with "client-credentials" there is one token for all; "per": "caller" has no meaning',
    });
  return problems;
}
