import { createHash } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';

import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { GatewayError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';

/** Whether the person has trusted this project's configuration as it is now; a changed one is not. */
export async function isTrusted(file: string, stateDir: string): Promise<boolean> {
  const known = await readTrusted(stateDir);
  if (known.size === 0) return false;
  const { path, digest } = await identify(file);
  return known.get(path) === digest;
}

/** The same about a text that was read from it, so that nothing can come between reading and asking. */
export async function isTrustedText(file: string, text: string, stateDir: string): Promise<boolean> {
  const known = await readTrusted(stateDir);
  const path = await realpath(file).catch(() => file);
  const trusted = known.get(path);
  // A byte order mark is no part of the text that is read, but of the file that is trusted.
  return trusted !== undefined && [text, `\uFEFF${text}`].some((each) => digestOf(each) === trusted);
}

/** Remembers a project's configuration, as it is now, as trusted. */
export async function trust(file: string, stateDir: string): Promise<void> {
  await remember(await identify(file), stateDir);
}

/** The same of what was just written to it, so that what somebody else puts there meanwhile is not trusted. */
export async function trustWritten(file: string, written: string, stateDir: string): Promise<void> {
  const path = await realpath(file).catch(() => file);
  await remember({ path, digest: digestOf(written) }, stateDir);
}

async function remember({ path, digest }: Identity, stateDir: string): Promise<void> {
  const known = await readTrusted(stateDir);
  const entries = [...known.set(path, digest)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
  await writeFileAtomic(trustedFile(stateDir), text, 0o600);
}

/** In the user's state folder. */
export const TRUSTED_FILE = 'trusted.json';

function trustedFile(stateDir: string): string {
  return join(stateDir, TRUSTED_FILE);
}

function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

interface Identity {
  readonly path: string;
  readonly digest: string;
}

async function identify(file: string): Promise<Identity> {
  try {
    const path = await realpath(file);
    return { path, digest: digestOf(await readFile(path)) };
  } catch (error) {
    throw new GatewayError('CONFIG_NOT_FOUND', `${file}: the configuration cannot be read`, {
      cause: error,
      details: { file },
    });
  }
}

async function readTrusted(stateDir: string): Promise<Map<string, string>> {
  const file = trustedFile(stateDir);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return new Map();
    throw corrupt(file, error);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw corrupt(file, error);
  }
  if (!isJsonObject(value)) throw corrupt(file);
  return new Map(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function corrupt(file: string, cause?: unknown): GatewayError {
  const message = `${file} cannot be read; remove it and trust your project configurations again`;
  return new GatewayError('STORE_CORRUPT', message, { cause, details: { file } });
}
