import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, statSync } from 'node:fs';
import { constants, copyFile, link, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import { makeFolder } from '../../../lib/make-folder.ts';
import { GatewayError } from '../../../model/errors.ts';
import type { Keychain } from './keychain.ts';

/** Where the key of the vault is: a file of ours, or a keychain that somebody hands in. */
export interface KeySource {
  /** Whether there is one; without a key nothing can have been saved. Asked often, so it must be cheap. */
  has(): boolean;
  /** Makes one where there is none. */
  get(): Promise<Buffer>;
}

const KEY_BYTES = 32;

/** In place of a key: where in the keychain it is. */
const IN_KEYCHAIN = /^keychain:([0-9a-f]{32})$/;

/**
 * A file that only its owner can read, made once however many processes want it at the same time. It holds the key, or says where in the
 * system's keychain that is: a new one goes there where `prefersKeychain` says so and there is one.
 */
export function keyFile(
  path: string,
  options: { readonly keychain?: Keychain | undefined; readonly prefersKeychain?: boolean } = {},
): KeySource {
  let key: Promise<Buffer> | undefined;
  let isThere = false;
  return {
    has: () => (isThere ||= existsSync(path)),
    get: () => {
      key ??= readOrMake(path, options).catch((error: unknown) => {
        key = undefined;
        throw error;
      });
      return key;
    },
  };
}

type KeyOptions = Parameters<typeof keyFile>[1] & object;

async function readOrMake(path: string, options: KeyOptions): Promise<Buffer> {
  if (!existsSync(path)) await make(path, options);
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  const text = (await readFile(path, 'utf8')).trim();
  const name = IN_KEYCHAIN.exec(text)?.[1];
  const key = Buffer.from(name === undefined ? text : await fromKeychain(name, path, options), 'base64');
  if (key.length === KEY_BYTES) return key;
  throw new GatewayError(
    'STORE_CORRUPT',
    `${path} is not a key of Trunkline. Restore it, or delete it and sign in again everywhere.`,
    { details: { file: path } },
  );
}

async function fromKeychain(name: string, path: string, { keychain }: KeyOptions): Promise<string> {
  const secret = await keychain?.read(name).catch(() => undefined);
  if (secret !== undefined) return secret;
  throw new GatewayError(
    'STORE_LOCKED',
    `The key of saved sign-ins is in the system's keychain, which does not give it. Unlock it, or delete ${path} and sign in again everywhere.`,
    { details: { file: path } },
  );
}

/** A link never replaces, so that of two processes both end up with the key of the first. */
async function make(path: string, options: KeyOptions): Promise<void> {
  await makeFolder(dirname(path), 0o700);
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const secret = randomBytes(KEY_BYTES).toString('base64');
  const name = await intoKeychain(secret, options);
  try {
    const text = name === undefined ? secret : `keychain:${name}`;
    await writeFile(temporary, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
    await link(temporary, path).catch((error: unknown) => {
      if (isExisting(error)) throw error;
      // Some file systems have no links.
      return copyFile(temporary, path, constants.COPYFILE_EXCL);
    });
  } catch (error) {
    if (name !== undefined) await options.keychain?.remove(name).catch(() => {}); // Best effort: nobody knows its name.
    if (!isExisting(error)) throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Undefined where it stays in the file; a keychain that is locked or not there must not keep anybody from signing in. */
async function intoKeychain(
  secret: string,
  { keychain, prefersKeychain }: KeyOptions,
): Promise<string | undefined> {
  if (keychain === undefined || prefersKeychain !== true) return undefined;
  const name = randomBytes(16).toString('hex');
  try {
    await keychain.write(name, secret);
    return (await keychain.read(name)) === secret ? name : undefined;
  } catch {
    return undefined;
  }
}

function isExisting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}
