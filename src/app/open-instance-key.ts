import { join } from 'node:path';

import { findSystemKeychain } from '../auth/upstream/token-encryption/keychain.ts';
import { openKeyFile } from '../auth/upstream/token-encryption/secret-key.ts';
import type { KeySource } from '../auth/upstream/token-encryption/secret-key.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { createReferenceReader, resolveReferences } from '../config/resolve-references.ts';
import { deriveKey } from '../core/lib/derive-key.ts';
import { GatewayError } from '../core/errors.ts';
import type { AppOptions } from './app-options.ts';

const MIN_CHARACTERS = 32;
/** The format of `secret.key`. Such a text is decoded as the key itself, so that the key of one gateway can become the key of a fleet. */
const KEY_FILE_FORMAT = /^[A-Za-z0-9+/]{43}=$/;
/** The formats of 32 or more bytes: at least 64 hexadecimal digits, or at least 43 Base64 characters. */
const HEX = /^[0-9a-f]{64,1024}$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{43,1024}={0,2}$/;
/** The minimum number of different characters; almost every random text has at least as many. */
const MIN_DISTINCT_HEX = 8;
const MIN_DISTINCT_BASE64 = 18;
/** The maximum average length of the words that `isRandomText` finds in a text. In a random text, the average is about two characters. */
const MAX_AVERAGE_WORD = 4.5;
/** No sequence of this many characters may occur twice; in almost every random text, none does. */
const SEQUENCE_LENGTH = 8;

/** Returns the key of this gateway or its fleet: `storage.key` of the configuration if it is set, else the key file in the state folder. */
export function openInstanceKey(
  options: Pick<AppOptions, 'stateDir' | 'env' | 'home' | 'platform'>,
  { file, value }: Pick<ConfigSnapshot, 'file' | 'value'>,
): KeySource {
  const { key } = value.storage;
  if (key === undefined)
    return openKeyFile(join(options.stateDir, 'secret.key'), {
      keychain: findSystemKeychain({ platform: options.platform, env: options.env }),
      prefersKeychain: options.env['TRUNKLINE_KEYCHAIN'] === '1',
    });
  const { env, home } = options;
  const reader = createReferenceReader({ env, home, configFile: file });
  let loading: Promise<Buffer> | undefined;
  return {
    has: () => true,
    get: () => {
      loading ??= resolveReferences(key, {
        server: 'storage',
        field: 'key',
        read: (reference) => reader.read(reference),
      }).then(parseKey);
      loading.catch(() => (loading = undefined)); // The caller gets the error; the next call tries again.
      return loading;
    },
  };
}

function parseKey(text: string): Buffer {
  if (text.length < MIN_CHARACTERS) throw unusableKey('is too short for a key');
  if (!isRandomText(text))
    throw unusableKey(
      'can be guessed, because it is not 32 random bytes in Base64 or hexadecimal digits: anyone with a copy of the database could try out keys',
    );
  return KEY_FILE_FORMAT.test(text)
    ? Buffer.from(text, 'base64')
    : deriveKey(Buffer.from(text), 'trunkline key 1');
}

function unusableKey(problem: string): GatewayError {
  return new GatewayError(
    'CONFIG_INVALID',
    `The value that storage.key refers to ${problem}. Create a key with "openssl rand -base64 32", stop all gateways, set the key for each of them, and sign in to the servers again.`,
  );
}

/**
 * Whether a text looks like 32 or more random bytes in Base64 or hexadecimal digits. The checks reject repetitions, words and encoded
 * texts. In a test with 300,000 random Base64 keys, they rejected one.
 */
function isRandomText(text: string): boolean {
  const isHex = HEX.test(text);
  if (!isHex && !BASE64.test(text)) return false;
  if (new Set(text).size < (isHex ? MIN_DISTINCT_HEX : MIN_DISTINCT_BASE64)) return false;
  const sequences = Array.from({ length: text.length - SEQUENCE_LENGTH + 1 }, (_, at) =>
    text.slice(at, at + SEQUENCE_LENGTH),
  );
  if (new Set(sequences).size < sequences.length) return false;
  // A word is a run of lowercase letters with at most one capital before it, a run of capitals, or a run of digits.
  const words = text.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
  const consistsOfWords = words.join('').length > words.length * MAX_AVERAGE_WORD;
  if (!isHex && consistsOfWords) return false;
  // If all bytes are printable, they are an encoded text.
  return !Buffer.from(text, isHex ? 'hex' : 'base64').every((byte) => byte >= 0x20 && byte < 0x7f);
}
