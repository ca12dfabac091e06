import type { UpstreamAuth } from './config.ts';
import type { ServerAuthEntry } from './schema/server-auth-schema.ts';

/** Applies to a server whose entry has no `auth`. */
const DEFAULT_AUTH: UpstreamAuth = {
  flow: 'browser',
  per: 'server',
  scopes: [],
  callbackPort: { first: 7340, last: 7359 },
  allowPrivate: false,
};

/** Fields that may hold references. */
export const AUTH_TEXT_KEYS = [
  'clientId',
  'clientSecret',
  'privateKey',
  'keyId',
  'clientMetadataUrl',
  'issuer',
] as const;

export function readUpstreamAuth(entry: ServerAuthEntry | undefined): UpstreamAuth {
  if (entry === undefined) return DEFAULT_AUTH;
  const { flow, per, scopes, callbackPort, allowPrivate } = entry;
  const texts = AUTH_TEXT_KEYS.flatMap((key) =>
    entry[key] === undefined ? [] : [[key, entry[key]] as const],
  );
  return { flow, per, scopes, callbackPort, allowPrivate, ...Object.fromEntries(texts) };
}

/** Finds combinations of settings that contradict each other. */
export function findAuthProblems(
  entry: ServerAuthEntry,
): readonly { readonly key: string; readonly message: string }[] {
  const problems: { key: string; message: string }[] = [];
  const has = (key: (typeof AUTH_TEXT_KEYS)[number]): boolean => entry[key] !== undefined;
  for (const key of ['clientSecret', 'privateKey'] as const) {
    if (has(key) && !has('clientId')) problems.push({ key, message: `"auth.${key}" needs "auth.clientId"` });
  }
  if (has('clientSecret') && has('privateKey')) {
    const message = 'it has both "auth.clientSecret" and "auth.privateKey"; keep one';
    problems.push({ key: 'privateKey', message });
  }
  if (entry.flow === 'client-credentials' && !has('clientSecret') && !has('privateKey')) {
    const message =
      '"auth.flow": "client-credentials" needs "clientId" and either "clientSecret" or "privateKey"';
    problems.push({ key: 'flow', message });
  }
  if (entry.flow === 'client-credentials' && entry.per === 'caller') {
    const message =
      '"auth.per": "caller" has no effect with "client-credentials", which uses one token for all callers; remove it';
    problems.push({ key: 'per', message });
  }
  return problems;
}
