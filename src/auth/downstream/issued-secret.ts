import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A key or token that the gateway issues: a prefix for its kind, a public id, and 256 random bits. */
export interface IssuedSecret {
  readonly text: string;
  readonly id: string;
  /** The SHA-256 hash of the text. Only the id and this hash are stored. */
  readonly hash: string;
}

const ID_BYTES = 9;
const SECRET_BYTES = 32;
/** The lengths of `ID_BYTES` and `SECRET_BYTES` in base64url. */
const SHAPE = /^([A-Za-z0-9_-]{12})([A-Za-z0-9_-]{43})$/;
const HASH = /^[0-9a-f]{64}$/;
/** A hash that no secret has. It is compared if nothing is stored, so that both cases take the same time. */
const UNMATCHABLE_HASH = '0'.repeat(64);

export function generateSecret(prefix: string): IssuedSecret {
  const id = randomBytes(ID_BYTES).toString('base64url');
  const text = `${prefix}${id}${randomBytes(SECRET_BYTES).toString('base64url')}`;
  return { text, id, hash: hashSecret(text) };
}

/** Parses a secret. Returns undefined for a text that does not have the form of a secret with this prefix. */
export function parseSecret(prefix: string, text: string): IssuedSecret | undefined {
  if (!text.startsWith(prefix)) return undefined;
  const [, id] = SHAPE.exec(text.slice(prefix.length)) ?? [];
  return id === undefined ? undefined : { text, id, hash: hashSecret(text) };
}

/** Whether the secret has the stored hash. Takes the same time if nothing is stored under the id. */
export function matchesHash(secret: IssuedSecret, storedHash: string | undefined): boolean {
  const isStored = storedHash !== undefined && HASH.test(storedHash);
  const isEqual = timingSafeEqual(
    Buffer.from(secret.hash, 'hex'),
    Buffer.from(isStored ? storedHash : UNMATCHABLE_HASH, 'hex'),
  );
  return isEqual && isStored;
}

/** Returns a fast hash. The text has 256 bits of entropy, so a slow hash would add no protection. */
function hashSecret(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
