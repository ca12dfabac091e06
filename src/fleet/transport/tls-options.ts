import type { ConnectionOptions, TlsOptions } from 'node:tls';

const IDENTITY = 'trunkline';

/**
 * Both ends prove in the TLS handshake that they have the pre-shared key, and neither transmits it. The key exchange is ephemeral, so a key
 * that leaks later does not decrypt recorded traffic. Certificates are not needed.
 */
const COMMON = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  // In TLS 1.3 the cipher suite no longer shows whether the pre-shared key was used.
  maxVersion: 'TLSv1.2',
} as const;

export function listenerTlsOptions(key: Buffer): TlsOptions {
  return {
    ...COMMON,
    pskIdentityHint: IDENTITY,
    pskCallback: (_socket, identity) => (identity === IDENTITY ? key : null),
  };
}

export function clientTlsOptions(key: Buffer): ConnectionOptions {
  return {
    ...COMMON,
    pskCallback: () => ({ identity: IDENTITY, psk: key }),
    // The pre-shared key authenticates the other end; there is no certificate whose name could be checked.
    checkServerIdentity: () => undefined,
  };
}
