import { join } from 'node:path';

import { systemKeychain } from '../auth/upstream/sealing/keychain.ts';
import { keyFile } from '../auth/upstream/sealing/secret-key.ts';
import type { KeySource } from '../auth/upstream/sealing/secret-key.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { referenceReader, reveal } from '../config/references.ts';
import { deriveKey } from '../lib/derived-key.ts';
import { GatewayError } from '../model/errors.ts';
import type { AppOptions } from './app-options.ts';

const LEAST_CHARACTERS = 32;
/** As `secret.key` has it, so that the key of a gateway can become that of a fleet. */
const AS_IN_FILE = /^[A-Za-z0-9+/]{43}=$/;

/** The secret of this gateway and of all that share its database: what the configuration refers to, else a file of the state folder. */
export function instanceKey(
  options: Pick<AppOptions, 'stateDir' | 'env' | 'home' | 'platform'>,
  { file, value }: Pick<ConfigSnapshot, 'file' | 'value'>,
): KeySource {
  const { key } = value.storage;
  if (key === undefined)
    return keyFile(join(options.stateDir, 'secret.key'), {
      keychain: systemKeychain(options),
      prefersKeychain: options.env['TRUNKLINE_KEYCHAIN'] === '1',
    });
  const { env, home } = options;
  const reader = referenceReader({ env, home, configFile: file });
  let read: Promise<Buffer> | undefined;
  return {
    has: () => true,
    get: () => {
      read ??= reveal(key, {
        server: 'storage',
        field: 'key',
        read: (reference) => reader.read(reference),
      }).then(keyOf);
      read.catch(() => (read = undefined)); // Whoever asked is told; the next one looks again.
      return read;
    },
  };
}

function keyOf(text: string): Buffer {
  if (AS_IN_FILE.test(text)) return Buffer.from(text, 'base64');
  if (text.length >= LEAST_CHARACTERS) return deriveKey(Buffer.from(text), 'trunkline key 1');
  throw new GatewayError(
    'CONFIG_INVALID',
    `What storage.key refers to is too short for a key: give at least ${LEAST_CHARACTERS} characters that nobody can guess, such as "openssl rand -base64 32" prints.`,
  );
}
