import { createCipheriv, createDecipheriv } from 'node:crypto';
import { pooledRandomBytes } from './pooled-random-bytes.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1';

/**
 * Encrypts with AES-256-GCM. `about` is authenticated but not encrypted. `unseal` needs the same `about`, so the sealed text of one
 * database row is invalid in another.
 */
export function seal(text: string, key: Buffer, about: readonly string[]): string {
  const nonce = pooledRandomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(authenticated(about));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
}

/** Returns undefined if the text was sealed with another key or `about`, or was changed. */
export function unseal(sealed: string, key: Buffer, about: readonly string[]): string | undefined {
  const [version, encoded = ''] = sealed.split('.');
  const bytes = Buffer.from(encoded, 'base64url');
  if (version !== VERSION || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES));
  decipher.setAAD(authenticated(about));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    const body = bytes.subarray(NONCE_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
  } catch {
    return undefined; // The authentication tag does not match.
  }
}

function authenticated(about: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify([VERSION, ...about]));
}
