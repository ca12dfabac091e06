import { randomBytes } from 'node:crypto';

const POOL_BYTES = 4096;

let pool = Buffer.alloc(0);
let used = 0;

/** A few random bytes, each of them given once. To ask the system for each piece takes 4 µs and more, as long as for them all. */
export function randomPiece(bytes: number): Buffer {
  if (used + bytes > pool.length) {
    pool = randomBytes(Math.max(POOL_BYTES, bytes));
    used = 0;
  }
  const piece = pool.subarray(used, used + bytes);
  used += bytes;
  return piece;
}
