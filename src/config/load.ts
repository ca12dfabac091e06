import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import { GatewayError } from '../model/errors.ts';
import type { Fingerprint } from '../model/ids.ts';
import type { ConfigSnapshot } from './config.ts';

/** The text of a configuration file, without a byte order mark. */
export async function readConfigText(file: string): Promise<string> {
  try {
    return decoded(file, await readFile(file));
  } catch (error) {
    throw unreadable(file, error);
  }
}

/**
 * The same for a start, which has nothing to do meanwhile: waiting for the system takes 3 ms of CPU in a process that has just begun,
 * and reading at once none. Whoever writes into what is no plain file may take their time.
 */
export async function readConfigAtStart(file: string): Promise<string> {
  try {
    if (statSync(file).isFile()) return decoded(file, readFileSync(file));
  } catch (error) {
    throw unreadable(file, error);
  }
  return readConfigText(file);
}

function decoded(file: string, bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8').replace(/^\uFEFF/, '');
  const text = `${file}: the file is not UTF-8 text; save it as UTF-8`;
  throw new GatewayError('CONFIG_INVALID', text, { details: { file } });
}

function unreadable(file: string, error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new GatewayError('CONFIG_NOT_FOUND', `${file}: there is no such configuration file`, {
      cause: error,
      details: { file },
    });
  }
  const reason = code === 'EISDIR' ? 'it is a folder' : String(code ?? error);
  return new GatewayError('CONFIG_INVALID', `${file}: the configuration cannot be read: ${reason}`, {
    cause: error,
    details: { file },
  });
}

/** Equal revisions of the same file mean equal snapshots, so that a cached one can be used without parsing. */
export function configRevision(text: string, version: string): Fingerprint {
  const hash = createHash('sha256').update(version).update('\0').update(text);
  return hash.digest('base64url').slice(0, 22) as Fingerprint;
}

/** Reads and validates a configuration file; `file` is absolute. */
export async function loadConfig(options: {
  readonly file: string;
  /** The configuration itself, where `file` does not exist. */
  readonly text?: string | undefined;
  /** Of the program: a newer one may read the same text differently. */
  readonly version: string;
}): Promise<ConfigSnapshot> {
  const { file, version } = options;
  const text = options.text ?? (await readConfigText(file));
  // A warm start has a cached snapshot and never pays for loading the parser and the schema.
  const { validateConfig } = await import('./validate.ts');
  return validateConfig({ file, text, revision: configRevision(text, version) });
}
