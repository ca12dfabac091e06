import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, statSync } from 'node:fs';
import { constants, copyFile, link, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import { GatewayError } from '../../../core/errors.ts';
import { makeFolder } from '../../../core/lib/make-folder.ts';
import type { Keychain } from './keychain.ts';

/** Provides the encryption key. */
export interface KeySource {
  /** Whether a key exists; without one, nothing can have been saved. Called often, so it must be cheap. */
  has(): boolean;
  /** Returns the key, and creates one if there is none. */
  get(): Promise<Buffer>;
}

interface KeyFileOptions {
  readonly keychain?: Keychain | undefined;
  readonly prefersKeychain?: boolean;
}

const KEY_BYTES = 32;

/** Matches the content of a key file that refers to an item in the keychain. */
const IN_KEYCHAIN = /^keychain:([0-9a-f]{32})$/;

/**
 * Reads the key from a file that only its owner can read; concurrent processes create it only once. The file contains the key
 * or the name of an item in the system keychain. A new key goes into the keychain if `prefersKeychain` is set and the
 * system has a keychain.
 */
export function openKeyFile(path: string, options: KeyFileOptions = {}): KeySource {
  let key: Promise<Buffer> | undefined;
  let hasFile = false;
  return {
    has: () => (hasFile ||= existsSync(path)),
    get: () => {
      key ??= readOrCreate(path, options).catch((error: unknown) => {
        key = undefined;
        throw error;
      });
      return key;
    },
  };
}

async function readOrCreate(path: string, options: KeyFileOptions): Promise<Buffer> {
  if (!existsSync(path)) await create(path, options);
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  const text = (await readFile(path, 'utf8')).trim();
  const item = IN_KEYCHAIN.exec(text)?.[1];
  const key = Buffer.from(item === undefined ? text : await readFromKeychain(item, path, options), 'base64');
  if (key.length === KEY_BYTES) return key;
  throw new GatewayError(
    'STORE_CORRUPT',
    `${path} does not contain a key of Trunkline. Restore the file, or delete it and sign in again everywhere.`,
    { details: { file: path } },
  );
}

/** Creates the key file with a hard link, which never replaces a file, so two concurrent processes both use the key of the first. */
async function create(path: string, options: KeyFileOptions): Promise<void> {
  await makeFolder(dirname(path), 0o700);
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const secret = randomBytes(KEY_BYTES).toString('base64');
  const item = await writeToKeychain(secret, options);
  try {
    const text = item === undefined ? secret : `keychain:${item}`;
    await writeFile(temporary, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
    await link(temporary, path).catch((error: unknown) => {
      if (isExisting(error)) throw error;
      // Some file systems do not support hard links.
      return copyFile(temporary, path, constants.COPYFILE_EXCL);
    });
  } catch (error) {
    // Best effort: an item that remains is harmless, because no file refers to it.
    if (item !== undefined) await options.keychain?.remove(item).catch(() => {});
    if (!isExisting(error)) throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/**
 * Stores the key in the keychain and returns the name of the item. Returns undefined if the key must stay in the file, because a locked or
 * missing keychain must not prevent a sign-in.
 */
async function writeToKeychain(
  secret: string,
  { keychain, prefersKeychain }: KeyFileOptions,
): Promise<string | undefined> {
  if (keychain === undefined || prefersKeychain !== true) return undefined;
  const item = randomBytes(16).toString('hex');
  try {
    await keychain.write(item, secret);
    return (await keychain.read(item)) === secret ? item : undefined;
  } catch {
    return undefined;
  }
}

async function readFromKeychain(item: string, path: string, { keychain }: KeyFileOptions): Promise<string> {
  const secret = await keychain?.read(item).catch(() => undefined);
  if (secret !== undefined) return secret;
  throw new GatewayError(
    'STORE_LOCKED',
    `The encryption key of saved sign-ins is in the system keychain, which did not return it. Unlock the keychain, or delete ${path} and sign in again everywhere.`,
    { details: { file: path } },
  );
}

function isExisting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}
