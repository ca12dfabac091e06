import { setTimeout as delay } from 'node:timers/promises';

import { GatewayError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import { authenticate } from './oauth/client-authentication.ts';
import type { OAuthClient } from './oauth/client-authentication.ts';
import { clientFor } from './oauth/client-registration.ts';
import { errorFromAnswer, OAuthError } from './oauth/oauth-error.ts';
import { requestTokens } from './oauth/token-request.ts';
import type { TokenAnswer } from './oauth/token-request.ts';
import { prepareSignIn } from './prepare-sign-in.ts';
import type { Prepared, SignInTarget } from './prepare-sign-in.ts';
import { tokensFrom } from './renew-tokens.ts';
import { asFailure, configuredClient, grantedBy } from './sign-in.ts';
import type { StoredTokens } from './stored-tokens.ts';

/** What the person needs, on whatever machine their browser is. */
export interface DevicePrompt {
  readonly url: string;
  readonly code: string;
  /** The same with the code inside, where the server offers it. */
  readonly complete?: string;
  readonly expiresAt: number;
}

interface DeviceCode extends DevicePrompt {
  readonly device: string;
  readonly intervalMs: number;
}

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const SLOW_DOWN_MS = 5000;
const MAX_LIFETIME_MS = 30 * 60_000;
/** Never called; registrations must name one. */
const NO_REDIRECT = 'http://127.0.0.1/callback';

/** A person signs in with a browser elsewhere (RFC 8628); the tokens are in the vault when it resolves. */
export async function signInByDevice(
  target: SignInTarget & { readonly show: (prompt: DevicePrompt) => void },
): Promise<StoredTokens> {
  const { vault, place } = target;
  try {
    const prepared = await prepareSignIn(target);
    const client = await clientOf(target, prepared);
    const code = await requestCode(prepared, client, target);
    target.show({
      url: code.url,
      code: code.code,
      expiresAt: code.expiresAt,
      ...(code.complete !== undefined && { complete: code.complete }),
    });
    const answer = await poll(prepared, client, { code, target });
    const before = { ...grantedBy(prepared, client, target), flow: 'device' as const };
    const tokens = tokensFrom(answer, { before, now: target.now() });
    await vault.save(place, tokens);
    await vault.note(place, undefined);
    return tokens;
  } catch (error) {
    throw asFailure(error);
  }
}

async function clientOf({ vault, place, auth }: SignInTarget, prepared: Prepared): Promise<OAuthClient> {
  const { server } = prepared.discovered;
  const known = await vault.loadClient(server.issuer, place.upstream);
  const { client, isNew } = await clientFor({
    upstream: place.upstream,
    server,
    configured: configuredClient(auth),
    clientMetadataUrl: auth.clientMetadataUrl,
    known: known?.redirectUri === NO_REDIRECT ? known.client : undefined,
    redirectUri: NO_REDIRECT,
    grantTypes: [GRANT, 'refresh_token'],
    scope: prepared.scope,
    fetch: prepared.fetch,
  });
  if (isNew) await vault.saveClient(server.issuer, place.upstream, { client, redirectUri: NO_REDIRECT });
  return client;
}

async function requestCode(
  prepared: Prepared,
  client: OAuthClient,
  { now }: SignInTarget,
): Promise<DeviceCode> {
  const { server, resource } = prepared.discovered;
  const { issuer, deviceEndpoint } = server;
  if (deviceEndpoint === undefined) {
    throw new GatewayError(
      'SIGN_IN_FAILED',
      `The authorization server ${issuer} offers no sign-in by device code; use a browser on this machine instead.`,
    );
  }
  const form = new URLSearchParams({ client_id: client.id });
  if (prepared.scope !== undefined) form.set('scope', prepared.scope);
  if (resource !== undefined) form.set('resource', resource);
  const headers: Record<string, string> = { 'Content-Type': 'application/x-www-form-urlencoded' };
  await authenticate(client, server, { form, headers });
  const answer = await prepared.fetch(new URL(deviceEndpoint), {
    method: 'POST',
    headers,
    body: form.toString(),
  });
  const value: unknown = answer.status >= 200 && answer.status < 300 ? parsed(answer.text) : undefined;
  const { device_code: device, user_code: code, verification_uri: url } = isJsonObject(value) ? value : {};
  if (
    !isJsonObject(value) ||
    typeof device !== 'string' ||
    typeof code !== 'string' ||
    typeof url !== 'string'
  )
    throw errorFromAnswer(`The authorization server ${issuer} gave no device code`, answer);
  const complete = value['verification_uri_complete'];
  const lifetimeMs = Math.min(Number(value['expires_in'] ?? 600) * 1000 || MAX_LIFETIME_MS, MAX_LIFETIME_MS);
  return {
    device,
    code,
    url,
    expiresAt: now() + lifetimeMs,
    intervalMs: Math.min(Math.max(Number(value['interval'] ?? 5) || 5, 1), 60) * 1000,
    ...(typeof complete === 'string' && { complete }),
  };
}

/** Asks in the pace that the server wants until the person has decided. */
async function poll(
  prepared: Prepared,
  client: OAuthClient,
  { code, target }: { readonly code: DeviceCode; readonly target: SignInTarget },
): Promise<TokenAnswer> {
  const { server, resource } = prepared.discovered;
  const grant = { grant_type: GRANT, device_code: code.device, resource };
  let { intervalMs } = code;
  while (target.now() < code.expiresAt) {
    await delay(intervalMs, undefined, { signal: target.signal });
    try {
      return await requestTokens({ server, client, grant, fetch: prepared.fetch });
    } catch (error) {
      if (error instanceof OAuthError && error.error === 'slow_down') intervalMs += SLOW_DOWN_MS;
      else if (!isWorthWaiting(error)) throw error;
    }
  }
  throw new GatewayError(
    'SIGN_IN_FAILED',
    'Nobody confirmed the code before it expired. Nothing was saved; try again.',
  );
}

/** Nobody decided yet, or the server could not be asked this time. */
function isWorthWaiting(error: unknown): boolean {
  if (error instanceof OAuthError) return error.error === 'authorization_pending' || error.status >= 500;
  return error instanceof GatewayError && error.code === 'UPSTREAM_UNAVAILABLE';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller tells what came instead.
  }
}
