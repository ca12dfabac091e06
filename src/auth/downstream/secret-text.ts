import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** What we give out and recognise again: a word for the kind, an id that is no secret, and 256 random bits. */
export interface SecretText {
  readonly text: string;
  readonly id: string;
  /** What is stored of it. */
  readonly hash: string;
}

const ID_BYTES = 9;
const SECRET_BYTES = 32;
const SHAPE = /^([A-Za-z0-9_-]{12})([A-Za-z0-9_-]{43})$/;
/** Of no text; compared with where there is nothing to compare with, so that both take the same time. */
const NOBODY = '0'.repeat(64);

export function makeSecret(prefix: string): SecretText {
  const id = randomBytes(ID_BYTES).toString('base64url');
  const text = `${prefix}${id}${randomBytes(SECRET_BYTES).toString('base64url')}`;
  return { text, id, hash: hashOf(text) };
}

/** Undefined when the text cannot be one of these. */
export function readSecret(prefix: string, text: string): SecretText | undefined {
  if (!text.startsWith(prefix)) return undefined;
  const [, id] = SHAPE.exec(text.slice(prefix.length)) ?? [];
  return id === undefined ? undefined : { text, id, hash: hashOf(text) };
}

/** Takes the same time wherever the first difference is, and where nothing is stored under the id. */
export function isSameSecret(shown: SecretText, storedHash: string | undefined): boolean {
  const isEqual = timingSafeEqual(Buffer.from(shown.hash, 'hex'), Buffer.from(storedHash ?? NOBODY, 'hex'));
  return isEqual && storedHash !== undefined;
}

/** The text has 256 bits of chance in it, so that a slow hash would protect nothing more. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
