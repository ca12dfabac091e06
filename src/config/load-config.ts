import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import { GatewayError } from '../core/errors.ts';
import type { Fingerprint } from '../core/ids.ts';
import type { ConfigSnapshot } from './config.ts';

/** Reads and validates a configuration file; `file` is absolute. */
export async function loadConfig(options: {
  readonly file: string;
  /** The configuration itself, if `file` does not exist. */
  readonly text?: string | undefined;
  /** The program's version: a newer one may interpret the same text differently. */
  readonly version: string;
}): Promise<ConfigSnapshot> {
  const { file, version } = options;
  const text = options.text ?? (await readConfigText(file));
  // Loaded on demand, because a warm start uses a cached snapshot and needs neither the parser nor the schema.
  const { validateConfig } = await import('./validate-config.ts');
  return validateConfig({ file, text, revision: computeConfigRevision(text, version) });
}

/** Returns the text of a configuration file, without a byte order mark. */
export async function readConfigText(file: string): Promise<string> {
  try {
    return decodeConfig(file, await readFile(file));
  } catch (error) {
    throw toReadError(file, error);
  }
}

/**
 * Like `readConfigText`, but synchronous for regular files: at startup nothing else runs meanwhile, and an asynchronous read
 * costs 3 ms of CPU in a fresh process. Pipes are read asynchronously, because their writer may be slow.
 */
export async function readConfigAtStart(file: string): Promise<string> {
  try {
    if (statSync(file).isFile()) return decodeConfig(file, readFileSync(file));
  } catch (error) {
    throw toReadError(file, error);
  }
  return readConfigText(file);
}

function decodeConfig(file: string, bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8').replace(/^\uFEFF/, '');
  const message = `${file}: the file is not UTF-8 text; save it as UTF-8`;
  throw new GatewayError('CONFIG_INVALID', message, { details: { file } });
}

function toReadError(file: string, error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const options = { cause: error, details: { file } };
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new GatewayError('CONFIG_NOT_FOUND', `${file}: there is no such configuration file`, options);
  }
  const reason = code === 'EISDIR' ? 'it is a folder' : String(code ?? error);
  return new GatewayError('CONFIG_INVALID', `${file}: the configuration cannot be read: ${reason}`, options);
}

/** Computes the revision of a text. Equal revisions mean equal snapshots, so a cached one can be used without parsing. */
export function computeConfigRevision(text: string, version: string): Fingerprint {
  const hash = createHash('sha256').update(version).update('\0').update(text);
  return hash.digest('base64url').slice(0, 22) as Fingerprint;
}
