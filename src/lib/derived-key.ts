import { hkdfSync } from 'node:crypto';

const KEY_BYTES = 32;

/** A key for one purpose, from which neither the secret nor the key for another purpose can be told. */
export function deriveKey(secret: Buffer, label: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), label, KEY_BYTES));
}
