import type { Caller } from '../../core/caller.ts';
import { rejectAuth } from './auth-result.ts';
import type { AuthProvider, AuthenticatedCaller } from './auth-result.ts';
import type { KeyCache } from './key-cache.ts';
import { KEY_PREFIX, keyCallerId } from './key-store.ts';
import type { StoredKey } from './key-store.ts';

/** Creates the provider for `auth.keys`, which accepts the bearer keys that `trunkline keys add` creates. */
export function createKeyProvider(keyCache: KeyCache): AuthProvider {
  // Each key has exactly one caller object, because policy rules are cached by the identity of that object.
  const callers = new WeakMap<StoredKey, AuthenticatedCaller>();
  return (_request, token) => {
    if (token === undefined || !token.startsWith(KEY_PREFIX)) return undefined;
    const key = keyCache.find(token);
    if (key === undefined)
      return rejectAuth('This key is wrong, revoked or expired.', { error: 'invalid_token' });
    keyCache.recordUse(key.id);
    let authenticated = callers.get(key);
    if (authenticated === undefined) callers.set(key, (authenticated = authenticateKey(key)));
    return { authenticated };
  };
}

export function authenticateKey(key: StoredKey): AuthenticatedCaller {
  return {
    caller: callerForKey(key),
    isBound: key.profile !== undefined,
    keyId: key.id,
    expiresAt: key.expiresAt,
  };
}

export function callerForKey(key: StoredKey): Caller {
  const { profile = 'default', groups, roles, tier } = key;
  return { id: keyCallerId(key), via: 'http', profile, groups, roles, tier };
}
