import { open, readFile, realpath, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

import { writeFileAtomic } from '../../core/lib/write-file-atomic.ts';
import { isUnwritable } from '../../core/lib/is-unwritable.ts';
import { makeFolder } from '../../core/lib/make-folder.ts';
import { GatewayError } from '../../core/errors.ts';
import { computeConfigRevision, readConfigText } from '../load-config.ts';
import { STARTER_CONFIG } from '../starter-config.ts';
import { validateConfig } from '../validate-config.ts';
import { findNode, formatPath, listMembers, parseDocument, readNodeValue, toPosition } from './document.ts';
import { setMember } from './set-member.ts';

const SERVERS = 'mcpServers';
/** The age at which a lock is ignored. An edit takes milliseconds, so a process that crashed must have left an older lock. */
const STALE_LOCK_MS = 10_000;
const LOCK_RETRY_MS = 20;

/** A configuration as it was read, for the edit that follows. */
export interface ConfigDocument {
  /** The absolute path. */
  readonly file: string;
  /** The text of the file or, if it does not exist yet, the text that a new file starts with. */
  readonly text: string;
  readonly isNew: boolean;
  /** The entries of `mcpServers` as they are written, valid or not. */
  readonly servers: ReadonlyMap<string, unknown>;
}

/** Sets one member, or removes it if the value is undefined. */
export interface ConfigEdit {
  readonly path: readonly [string, ...string[]];
  readonly value: unknown;
}

export interface SavedConfig {
  readonly isNew: boolean;
  readonly isChanged: boolean;
  readonly text: string;
  /** The whole content of the file: the text, after a byte order mark if there is one. */
  readonly written: string;
}

/** Reads a configuration in order to change it. If the file does not exist, returns the commented starter configuration. */
export async function readConfigDocument(file: string): Promise<ConfigDocument> {
  const current = await readIfPresent(file);
  return parseConfigDocument(file, current ?? STARTER_CONFIG, current === undefined);
}

/** Returns the document that `readConfigDocument` would return if the file had this text. */
export function parseConfigDocument(file: string, text: string, isNew = false): ConfigDocument {
  const parsed = parseDocument(text);
  if ('problem' in parsed) {
    const { line, column } = toPosition(text, parsed.problem.offset);
    throw new GatewayError(
      'CONFIG_INVALID',
      `${file}:${line}:${column}: ${parsed.problem.message}; fix it first, with \`trunkline edit\``,
      { details: { file, line, column } },
    );
  }
  return { file, text, isNew, servers: readServerEntries(text) };
}

/** Returns the entries of `mcpServers` as they are written. */
export function readServerEntries(text: string): ReadonlyMap<string, unknown> {
  const parsed = parseDocument(text);
  if ('problem' in parsed) return new Map();
  const node = findNode(parsed.root, [SERVERS]);
  const members = node === undefined ? [] : listMembers(node);
  return new Map(members.map(({ key, valueNode }) => [key, readNodeValue(valueNode)]));
}

/**
 * Changes a configuration and keeps everything else in it: comments, order and formatting. Never writes an invalid
 * configuration, and does not overwrite a file that has changed since it was read.
 */
export async function editConfig(
  document: ConfigDocument,
  edits: readonly ConfigEdit[],
  version: string,
): Promise<SavedConfig> {
  const text = edits.reduce((before, { path, value }) => setMember(before, path, value), document.text);
  return saveConfig(document, text, version);
}

/** Writes a new text of a configuration, under the same conditions as `editConfig`. */
export async function saveConfig(
  document: ConfigDocument,
  text: string,
  version: string,
): Promise<SavedConfig> {
  const { file, isNew } = document;
  const isChanged = isNew || text !== document.text;
  if (!isChanged) return { isNew, isChanged, text, written: text };
  checkEdit(document, text, version);
  try {
    return await writeConfig(document, text);
  } catch (error) {
    throw isUnwritable(error) && !(error instanceof GatewayError)
      ? configUnwritableError(file, error)
      : error;
  }
}

/** Throws if the text is not a valid configuration, or if it makes a server unusable that was usable before. */
export function checkEdit({ file, isNew, text: old }: ConfigDocument, text: string, version: string): void {
  const { unusable } = checkConfigText(file, text, version);
  const before = new Set(isNew ? [] : listUnusable(file, old, version));
  const [worse] = unusable.filter(({ name }) => !before.has(name));
  if (worse !== undefined) throw new GatewayError('CONFIG_INVALID', worse.message, { details: { file } });
}

interface UnusableServer {
  readonly name: string;
  readonly message: string;
}

/** Throws if the text is not a valid configuration. Returns the servers that would be left out, with the reasons. */
export function checkConfigText(
  file: string,
  text: string,
  version: string,
): { readonly unusable: readonly UnusableServer[] } {
  const revision = computeConfigRevision(text, version);
  const { value, disabled, warnings } = validateConfig({ file, text, revision });
  const usable = new Set<string>([...value.upstreams.map(({ name }) => name), ...disabled]);
  const unusable = [...readServerEntries(text).keys()].flatMap((name) => {
    if (usable.has(name)) return [];
    const entryPath = formatPath([SERVERS, name]);
    const entryWarnings = warnings.filter(
      ({ path }) =>
        path === entryPath || path.startsWith(`${entryPath}.`) || path.startsWith(`${entryPath}[`),
    );
    const lines = entryWarnings.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`);
    return [{ name, message: lines.join('\n') || `${file}: server "${name}" cannot be used` }];
  });
  return { unusable };
}

function listUnusable(file: string, text: string, version: string): readonly string[] {
  try {
    return checkConfigText(file, text, version).unusable.map(({ name }) => name);
  } catch {
    return []; // The whole file was invalid, so no server was usable.
  }
}

async function writeConfig({ file, isNew, text: old }: ConfigDocument, text: string): Promise<SavedConfig> {
  await makeFolder(dirname(file), 0o700);
  // Writes to the target of a symbolic link, for example in a folder of dotfiles, so that the link is kept.
  const target = await realpath(file).catch(() => file);
  const unlock = await lockFile(target);
  try {
    if ((await readIfPresent(file)) !== (isNew ? undefined : old)) throw configConflictError(file);
    const mode = isNew ? 0o600 : (await stat(target)).mode & 0o777;
    const written = (await hasByteOrderMark(target)) ? `\uFEFF${text}` : text;
    await writeFileAtomic(target, written, mode);
    return { isNew, isChanged: true, text, written };
  } finally {
    await unlock();
  }
}

async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readConfigText(file);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'CONFIG_NOT_FOUND') return undefined;
    throw error;
  }
}

async function hasByteOrderMark(file: string): Promise<boolean> {
  const bytes = await readFile(file).catch(() => Buffer.alloc(0));
  return bytes.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf]));
}

/** Locks the file against other commands, so that the next command sees this change. Returns the function that unlocks the file. */
async function lockFile(file: string): Promise<() => Promise<void>> {
  const lock = `${file}.lock`;
  for (const deadline = Date.now() + STALE_LOCK_MS; ;) {
    try {
      await (await open(lock, 'wx', 0o600)).close();
      return () => rm(lock, { force: true });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      const age = await stat(lock).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      );
      if (age > STALE_LOCK_MS) await rm(lock, { force: true });
      else if (Date.now() > deadline) throw configConflictError(file);
      await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MS));
    }
  }
}

/** Creates the error for a file or folder that this user cannot write. */
export function configUnwritableError(file: string, error: unknown): GatewayError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  const message = `${file} cannot be written (${code}), so nothing was changed. Name another file with --config, or get write permission for this one`;
  return new GatewayError('CONFIG_READ_ONLY', message, { cause: error, details: { file } });
}

export function configConflictError(file: string): GatewayError {
  const message = `${file} was changed by another program in the meantime, so this change was not made; run the command again`;
  return new GatewayError('REVISION_CONFLICT', message, { details: { file } });
}
