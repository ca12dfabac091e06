import { rejectAuth } from './auth-result.ts';
import type { AuthProvider, AuthRequest, AuthResult, Authenticator } from './auth-result.ts';

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const MAX_TOKEN = 8192;

/** Returns an authenticator that tries the providers in order. It rejects a request that no provider accepts; no caller is anonymous. */
export function createAuthenticator(
  providers: readonly AuthProvider[],
  options: { readonly hasProfile: (name: string) => boolean },
): Authenticator {
  return (request) => {
    const repeated = findRepeatedHeader(request.rawHeaders);
    if (repeated !== undefined)
      return rejectAuth(`The request has more than one ${repeated} header.`, {
        status: 400,
        error: 'invalid_request',
      });
    const { authorization } = request.headers;
    const [, token] = BEARER.exec(authorization ?? '') ?? [];
    if (authorization !== undefined && (token === undefined || token.length > MAX_TOKEN))
      return rejectAuth('The Authorization header must be "Bearer" followed by a key or token.', {
        error: 'invalid_token',
      });
    for (const provider of providers) {
      const result = provider(request, token);
      // A provider that returns a promise has recognized the form of the token, so no other provider is tried.
      if (result instanceof Promise) return result.then(checkProfile);
      if (result !== undefined) return checkProfile(result);
    }
    return token === undefined
      ? rejectAuth('A key or token is required: send the header "Authorization: Bearer …".')
      : rejectAuth('This key or token is not valid here.', { error: 'invalid_token' });
  };

  /** Rejects a caller whose profile was removed, because without the selection of that profile the caller would see everything. */
  function checkProfile(result: AuthResult): AuthResult {
    if (!('authenticated' in result) || options.hasProfile(result.authenticated.caller.profile))
      return result;
    return rejectAuth("This caller's profile no longer exists.", { status: 403 });
  }
}

/** The caller of all local requests. It is a single object, because policy rules are cached by the identity of the caller object. */
const LOCAL_CALLER: AuthResult = {
  authenticated: { caller: { id: 'local', via: 'http', profile: 'default' }, isBound: false },
};

/** Accepts every request without credentials, so it is used only on loopback. Rejects credentials instead of ignoring them. */
export const authenticateLocal: Authenticator = ({ headers }) => {
  if (headers.authorization !== undefined)
    return rejectAuth(
      'This gateway accepts no keys or tokens, because its configuration has no "auth". Send none, or add "auth": { "keys": true }.',
      { error: 'invalid_token' },
    );
  return LOCAL_CALLER;
};

/** Headers that must not be repeated, because Node exposes only the first one, while a proxy may have checked the last one. */
const SINGLE_HEADERS = new Set(['authorization', 'host', 'origin', 'mcp-session-id']);

function findRepeatedHeader(rawHeaders: AuthRequest['rawHeaders']): string | undefined {
  let seen: string[] | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    if (!SINGLE_HEADERS.has(name)) continue;
    if (seen?.includes(name) === true) return name;
    (seen ??= []).push(name);
  }
  return undefined;
}
