import type { Caller } from '../../model/caller.ts';
import type { KeyRing } from './key-ring.ts';
import { KEY_PREFIX, callerId } from './key-store.ts';
import type { StoredKey } from './key-store.ts';
import { refused } from './verdict.ts';
import type { Admission, Provider } from './verdict.ts';

/** `auth.keys`: bearer keys that `trunkline keys add` made. */
export function keys(ring: KeyRing): Provider {
  // Rules are looked up by the object, so that one key is one caller.
  const admissions = new WeakMap<StoredKey, Admission>();
  return (_, token) => {
    if (token === undefined || !token.startsWith(KEY_PREFIX)) return undefined;
    const key = ring.find(token);
    if (key === undefined) return refused('This key is wrong, revoked or over.', { error: 'invalid_token' });
    ring.noteUse(key.id);
    let admission = admissions.get(key);
    if (admission === undefined) admissions.set(key, (admission = admissionOf(key)));
    return { admission };
  };
}

export function admissionOf(key: StoredKey): Admission {
  return {
    caller: callerOf(key),
    isBound: key.profile !== undefined,
    key: key.id,
    ...(key.expiresAt !== undefined && { until: key.expiresAt }),
  };
}

export function callerOf(key: StoredKey): Caller {
  const { profile = 'default', groups, roles, tier } = key;
  return {
    ...{ id: callerId(key), via: 'http', profile, groups, roles },
    ...(tier !== undefined && { tier }),
  };
}
