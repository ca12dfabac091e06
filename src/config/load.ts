import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { GatewayError } from '../model/errors.ts';
import type { Fingerprint } from '../model/ids.ts';
import type { ConfigSnapshot } from './config.ts';

/** The text of a configuration file, without a byte order mark. */
export async function readConfigText(file: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw unreadable(file, error);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new GatewayError('CONFIG_INVALID', `${file}: the file is not UTF-8 text; save it as UTF-8`, {
      cause: error,
      details: { file },
    });
  }
}

function unreadable(file: string, error: unknown): GatewayError {
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
