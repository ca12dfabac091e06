import type { ConnectionOptions, TlsOptions } from 'node:tls';

const IDENTITY = 'trunkline';

/**
 * Both ends prove in the handshake that they have the key, and neither learns it; a key that becomes known later does not open what was
 * recorded before. There are no certificates to make, to renew or to check.
 */
const COMMON = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  // With 1.3 the cipher no longer says that the key was used.
  maxVersion: 'TLSv1.2',
} as const;

export function listenerSecurity(key: Buffer): TlsOptions {
  return {
    ...COMMON,
    pskIdentityHint: IDENTITY,
    pskCallback: (_socket, identity) => (identity === IDENTITY ? key : null),
  };
}

export function dialerSecurity(key: Buffer): ConnectionOptions {
  return {
    ...COMMON,
    pskCallback: () => ({ identity: IDENTITY, psk: key }),
    // There is no certificate whose name could be wrong: the key is the proof.
    checkServerIdentity: () => undefined,
  };
}
