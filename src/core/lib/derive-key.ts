import { hkdfSync } from 'node:crypto';

const KEY_BYTES = 32;

/** Derives a key for the purpose that `label` names. The key reveals neither the secret nor the keys for other purposes. */
export function deriveKey(secret: Buffer, label: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), label, KEY_BYTES));
}
