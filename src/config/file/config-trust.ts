import { createHash } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import { hashFile, NOT_A_FILE } from '../../core/lib/hash-file.ts';
import { writeFileAtomic } from '../../core/lib/write-file-atomic.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { readConfigText } from '../load-config.ts';
import type { ConfigDocument, SavedConfig } from './edit-config.ts';

/** The file in the user's state folder that records which project configurations are trusted. */
export const TRUSTED_FILE = 'trusted.json';

/** Whether the user has trusted this project's configuration and its guards with their current content. */
export async function isTrusted(file: string, stateDir: string): Promise<boolean> {
  return isTrustedText(file, await readConfigText(file), stateDir);
}

/**
 * Whether the user has trusted this text of the file, with its guards as they are now. The caller passes the text that it will use, so that
 * the result applies to this text even if the file changes meanwhile.
 */
export async function isTrustedText(file: string, text: string, stateDir: string): Promise<boolean> {
  const digest = await readTrustedDigest(file, stateDir);
  if (digest === undefined) return false;
  return matchesDigest(text, await hashGuards(file, text), digest);
}

/** Records a project's configuration with its current content as trusted. */
export async function trustConfig(file: string, stateDir: string): Promise<void> {
  await trustText(file, await readConfigText(file), stateDir);
}

/** Records this content of the file as trusted. A change that another program makes at the same time is not trusted. */
export async function trustText(file: string, content: string, stateDir: string): Promise<void> {
  await saveTrusted(file, computeDigest(content, await hashGuards(file, content)), stateDir);
}

/** Runs `save`, which writes a project configuration. If the previous text was trusted, records the written text as trusted, too. */
export async function preserveTrust(
  { file, text, isNew }: Pick<ConfigDocument, 'file' | 'text' | 'isNew'>,
  stateDir: string,
  save: () => Promise<SavedConfig>,
): Promise<SavedConfig> {
  const digest = isNew ? undefined : await readTrustedDigest(file, stateDir);
  const guards = digest === undefined ? undefined : await hashGuards(file, text);
  const saved = await save();
  if (!saved.isChanged || digest === undefined || guards === undefined) return saved;
  if (!matchesDigest(text, guards, digest)) return saved;
  // A guard that changed during `save` must not become trusted, so the earlier digests are used if the guards are the same files.
  const paths = await listGuardFiles(file, saved.text);
  const isSameGuards = paths.join('\0') === [...guards.keys()].join('\0');
  const content = computeDigest(saved.written, isSameGuards ? guards : await hashFiles(paths));
  await saveTrusted(file, content, stateDir);
  return saved;
}

/** Digests of guard files by path, in the order of the configuration. */
type GuardDigests = ReadonlyMap<string, string>;

async function hashGuards(file: string, text: string): Promise<GuardDigests> {
  return hashFiles(await listGuardFiles(file, text));
}

async function hashFiles(paths: readonly string[]): Promise<GuardDigests> {
  return new Map(
    await Promise.all(
      paths.map(async (path) => {
        const digest = await hashFile(path);
        if (digest !== NOT_A_FILE) return [path, digest] as const;
        const message = `The guard ${path} is not a regular file, so the configuration cannot be trusted. Replace it with a file.`;
        throw new GatewayError('CONFIG_INVALID', message, { details: { file: path } });
      }),
    ),
  );
}

/** Returns the absolute paths of the guards that a text names. A text that cannot be parsed names none, and starts nothing. */
async function listGuardFiles(file: string, text: string): Promise<readonly string[]> {
  // The parser is loaded only if the text can contain the key `guards`, which may be written with escapes.
  if (!/guards|\\/.test(text)) return [];
  const { parseDocument, readNodeValue } = await import('./document.ts');
  const parsed = parseDocument(text.replace(/^\uFEFF/, ''));
  const value = 'problem' in parsed ? undefined : readNodeValue(parsed.root);
  const guards = isJsonObject(value) ? value['guards'] : undefined;
  if (!Array.isArray(guards)) return [];
  return [
    ...new Set(guards.filter((path) => typeof path === 'string').map((path) => resolve(dirname(file), path))),
  ];
}

/** Accepts the digest of the text with or without a byte order mark. The trusted file may have one, but `text` does not. */
function matchesDigest(text: string, guards: GuardDigests, digest: string): boolean {
  return [text, `\uFEFF${text}`].some((content) => computeDigest(content, guards) === digest);
}

function computeDigest(content: string, guards: GuardDigests): string {
  const digest = createHash('sha256').update(content).digest('hex');
  if (guards.size === 0) return digest;
  return createHash('sha256')
    .update(JSON.stringify([digest, ...guards.values()]))
    .digest('hex');
}

async function readTrustedDigest(file: string, stateDir: string): Promise<string | undefined> {
  const path = await realpath(file).catch(() => file);
  return (await readTrusted(stateDir)).get(path);
}

async function saveTrusted(file: string, digest: string, stateDir: string): Promise<void> {
  const path = await realpath(file).catch(() => file);
  const trusted = await readTrusted(stateDir);
  const entries = [...trusted.set(path, digest)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
  await writeFileAtomic(join(stateDir, TRUSTED_FILE), text, 0o600);
}

/** Returns the digests of trusted files by path. */
async function readTrusted(stateDir: string): Promise<Map<string, string>> {
  const file = join(stateDir, TRUSTED_FILE);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return new Map();
    throw trustFileError(file, error);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw trustFileError(file, error);
  }
  if (!isJsonObject(value)) throw trustFileError(file);
  return new Map(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function trustFileError(file: string, cause?: unknown): GatewayError {
  const message = `${file} cannot be read; remove it, then run \`trunkline trust\` for your project configurations again`;
  return new GatewayError('STORE_CORRUPT', message, { cause, details: { file } });
}
