import { setTimeout as delay } from 'node:timers/promises';

import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { authenticateClient } from './oauth/client-authentication.ts';
import type { OAuthClient } from './oauth/client-authentication.ts';
import { sanitizeText } from '../../core/lib/sanitize-text.ts';
import { OAuthError, errorFromResponse } from './oauth/oauth-error.ts';
import { requestTokens } from './oauth/token-request.ts';
import type { TokenResponse } from './oauth/token-request.ts';
import { toGrantDetails, obtainClient, prepareSignIn, toSignInError } from './prepare-sign-in.ts';
import type { PreparedSignIn, SignInTarget } from './prepare-sign-in.ts';
import { type StoredTokens, toStoredTokens } from './stored-tokens.ts';

/** The address and the code that a person needs to sign in with a browser on any machine. */
export interface DevicePrompt {
  readonly url: string;
  readonly code: string;
  /** The address with the code in it, if the server offers one. */
  readonly complete?: string | undefined;
  readonly expiresAt: number;
}

interface DeviceAuthorization extends DevicePrompt {
  readonly deviceCode: string;
  readonly intervalMs: number;
}

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** Increase of the poll interval after a `slow_down` error (RFC 8628, section 3.5). */
const SLOW_DOWN_MS = 5000;
/** Upper limit for the lifetime of a code, whatever the server says. */
const MAX_LIFETIME_MS = 30 * 60_000;
/** The redirect address of the registration, which requires one; the device flow never uses it. */
const UNUSED_REDIRECT = 'http://127.0.0.1/callback';

interface DeviceSignInOptions extends SignInTarget {
  readonly show: (prompt: DevicePrompt) => void;
  /** Waits before each poll; a parameter for tests. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Signs in with a browser on another machine (RFC 8628), and saves the tokens in the vault. */
export async function signInWithDevice(options: DeviceSignInOptions): Promise<StoredTokens> {
  const { vault, signInId } = options;
  try {
    const prepared = await prepareSignIn(options);
    const { client } = await obtainClient(options, prepared, {
      registration: await vault.loadClient(prepared.discovered.server.issuer, signInId.upstream),
      redirectUri: UNUSED_REDIRECT,
      grantTypes: [DEVICE_GRANT, 'refresh_token'],
    });
    const authorization = await requestDeviceCode(prepared, client, options.now);
    const { url, code, complete, expiresAt } = authorization;
    options.show({ url, code, complete, expiresAt });
    const response = await pollForTokens(prepared, client, { authorization, options });
    const details = { ...toGrantDetails(prepared, client, options), flow: 'device' as const };
    const tokens = toStoredTokens(response, details, options.now());
    await vault.save(signInId, tokens);
    await vault.saveNote(signInId, undefined);
    return tokens;
  } catch (error) {
    throw toSignInError(error);
  }
}

async function requestDeviceCode(
  prepared: PreparedSignIn,
  client: OAuthClient,
  now: () => number,
): Promise<DeviceAuthorization> {
  const { server, resource } = prepared.discovered;
  const { issuer, deviceEndpoint } = server;
  if (deviceEndpoint === undefined) {
    throw new GatewayError(
      'SIGN_IN_FAILED',
      `The authorization server ${issuer} does not offer sign-in with a device code. Run \`trunkline login\` without \`--device\`.`,
    );
  }
  const form = new URLSearchParams({ client_id: client.id });
  if (prepared.scope !== undefined) form.set('scope', prepared.scope);
  if (resource !== undefined) form.set('resource', resource);
  const headers: Record<string, string> = { 'Content-Type': 'application/x-www-form-urlencoded' };
  await authenticateClient(client, server, { form, headers });
  const response = await prepared.fetch(new URL(deviceEndpoint), {
    method: 'POST',
    headers,
    body: form.toString(),
  });
  const isSuccess = response.status >= 200 && response.status < 300;
  const body = isSuccess ? parseObject(response.text) : undefined;
  const { device_code: deviceCode, user_code: code, verification_uri: url } = body ?? {};
  if (
    body === undefined ||
    typeof deviceCode !== 'string' ||
    typeof code !== 'string' ||
    typeof url !== 'string'
  )
    throw errorFromResponse(`The authorization server ${issuer} issued no device code`, response);
  const complete = body['verification_uri_complete'];
  const lifetimeMs = Math.min(Number(body['expires_in'] ?? 600) * 1000 || MAX_LIFETIME_MS, MAX_LIFETIME_MS);
  return {
    deviceCode,
    code: sanitizeText(code),
    url: sanitizeText(url),
    complete: typeof complete === 'string' ? sanitizeText(complete) : undefined,
    expiresAt: now() + lifetimeMs,
    // The interval is at least 1 s and at most 60 s. RFC 8628 defines 5 s as the default.
    intervalMs: Math.min(Math.max(Number(body['interval'] ?? 5) || 5, 1), 60) * 1000,
  };
}

/** Polls the token endpoint at the interval that the server asks for, until the person has decided or the code expires. */
async function pollForTokens(
  prepared: PreparedSignIn,
  client: OAuthClient,
  context: { readonly authorization: DeviceAuthorization; readonly options: DeviceSignInOptions },
): Promise<TokenResponse> {
  const { authorization, options } = context;
  const { server, resource } = prepared.discovered;
  const { sleep = (ms, signal) => delay(ms, undefined, { signal }) } = options;
  const grant = { grant_type: DEVICE_GRANT, device_code: authorization.deviceCode, resource };
  let { intervalMs } = authorization;
  while (options.now() < authorization.expiresAt) {
    await sleep(intervalMs, options.signal);
    try {
      return await requestTokens({ server, client, grant, fetch: prepared.fetch });
    } catch (error) {
      if (error instanceof OAuthError && error.error === 'slow_down') intervalMs += SLOW_DOWN_MS;
      else if (!shouldKeepPolling(error)) throw error;
    }
  }
  throw new GatewayError(
    'SIGN_IN_FAILED',
    'The code expired before it was confirmed. Nothing was saved; try again.',
  );
}

/** Whether the person has not decided yet, or the server is temporarily unavailable. */
function shouldKeepPolling(error: unknown): boolean {
  if (error instanceof OAuthError) return error.error === 'authorization_pending' || error.status >= 500;
  return error instanceof GatewayError && error.code === 'UPSTREAM_UNAVAILABLE';
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // The caller reports the content of the response.
  }
}
