import { createCipheriv, createDecipheriv } from 'node:crypto';
import { randomPiece } from './random-piece.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1';

/** AES-256-GCM; `about` is not secret and must be the same when it is opened, so that rows cannot be swapped. */
export function seal(text: string, key: Buffer, about: readonly string[]): string {
  const nonce = randomPiece(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(authenticated(about));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
}

/** Undefined when it was made with another key, about something else, or was changed. */
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
    return undefined; // The tag does not fit: that is the answer.
  }
}

function authenticated(about: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify([VERSION, ...about]));
}
