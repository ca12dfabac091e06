import { join } from 'node:path';

import { findSystemKeychain } from '../auth/upstream/token-encryption/keychain.ts';
import { openKeyFile } from '../auth/upstream/token-encryption/secret-key.ts';
import type { KeySource } from '../auth/upstream/token-encryption/secret-key.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { createReferenceReader, resolveReferences } from '../config/resolve-references.ts';
import { deriveKey } from '../core/lib/derive-key.ts';
import { GatewayError } from '../core/errors.ts';
import type { AppOptions } from './app-options.ts';

const LEAST_CHARACTERS = 32;
/** The format of `secret.key`, so that the key of a gateway can become the key of a fleet. */
const AS_IN_FILE = /^[A-Za-z0-9+/]{43}=$/;
/** The formats of 32 or more bytes: 64 hexadecimal digits or 43 Base64 characters. */
const HEX = /^[0-9a-f]{64,1024}$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{43,1024}={0,2}$/;
/** A random text has at least this number of different characters. */
const LEAST_DISTINCT_HEX = 8;
const LEAST_DISTINCT_BASE64 = 18;
/** Maximum average length of words, split where the case changes. In a random text, it is about two characters. */
const LONGEST_AVERAGE_WORD = 4.5;
/** Length of a part that does not occur twice in a random text. */
const PART = 8;

/** Returns the key of this gateway, or of its fleet: `storage.key` in the configuration, or else the key file in the state folder. */
export function openInstanceKey(
  options: Pick<AppOptions, 'stateDir' | 'env' | 'home' | 'platform'>,
  { file, value }: Pick<ConfigSnapshot, 'file' | 'value'>,
): KeySource {
  const { key } = value.storage;
  if (key === undefined)
    return openKeyFile(join(options.stateDir, 'secret.key'), {
      keychain: findSystemKeychain(options),
      prefersKeychain: options.env['TRUNKLINE_KEYCHAIN'] === '1',
    });
  const { env, home } = options;
  const reader = createReferenceReader({ env, home, configFile: file });
  let read: Promise<Buffer> | undefined;
  return {
    has: () => true,
    get: () => {
      read ??= resolveReferences(key, {
        server: 'storage',
        field: 'key',
        read: (reference) => reader.read(reference),
      }).then(keyOf);
      read.catch(() => (read = undefined)); // The caller gets the error; the next call tries again.
      return read;
    },
  };
}

function keyOf(text: string): Buffer {
  if (text.length < LEAST_CHARACTERS) throw unusableKey('is too short for a key');
  if (!isRandomText(text))
    throw unusableKey(
      'can be guessed: it is not 32 random bytes in Base64 or hexadecimal digits, so whoever has a copy of the database could try out keys',
    );
  return AS_IN_FILE.test(text)
    ? Buffer.from(text, 'base64')
    : deriveKey(Buffer.from(text), 'trunkline key 1');
}

function unusableKey(problem: string): GatewayError {
  return new GatewayError(
    'CONFIG_INVALID',
    `What storage.key refers to ${problem}. Create a key with "openssl rand -base64 32", stop all gateways, set it at all of them, and sign in to the servers again.`,
  );
}

/**
 * Whether a text is 32 or more random bytes in Base64 or hexadecimal digits. The checks find repetitions, words and encoded texts;
 * of 300,000 random Base64 keys, one failed them.
 */
function isRandomText(text: string): boolean {
  const isHex = HEX.test(text);
  if (!isHex && !BASE64.test(text)) return false;
  if (new Set(text).size < (isHex ? LEAST_DISTINCT_HEX : LEAST_DISTINCT_BASE64)) return false;
  const parts = Array.from({ length: text.length - PART + 1 }, (_, at) => text.slice(at, at + PART));
  if (new Set(parts).size < parts.length) return false;
  const words = text.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
  const isWords = words.join('').length > words.length * LONGEST_AVERAGE_WORD;
  if (!isHex && isWords) return false;
  // Bytes that are all printable are an encoded text.
  return !Buffer.from(text, isHex ? 'hex' : 'base64').every((byte) => byte >= 0x20 && byte < 0x7f);
}
