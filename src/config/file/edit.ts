import { open, readFile, realpath, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { isUnwritable } from '../../lib/is-unwritable.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { GatewayError } from '../../model/errors.ts';
import {
  type DocumentPath,
  formatPath,
  membersOf,
  nodeAt,
  parseDocument,
  positionAt,
  valueOf,
} from './document.ts';
import { configRevision, readConfigText } from '../load.ts';
import { STARTER } from '../paths.ts';
import { withMember } from './splice.ts';
import { validateConfig } from '../validate.ts';

const SERVERS = 'mcpServers';
/** An edit takes milliseconds; what is older was left by a crash. */
const STALE_LOCK_MS = 10_000;
const LOOK_AGAIN_MS = 20;

/** A configuration as it was read, for the edit that follows. */
export interface ConfigDocument {
  /** Absolute. */
  readonly file: string;
  /** What a new file would begin with where there is none. */
  readonly text: string;
  readonly isNew: boolean;
  /** The entries of `mcpServers` as they are written, right or wrong. */
  readonly servers: ReadonlyMap<string, unknown>;
}

/** One member to set, or to remove where the value is undefined. */
export interface ConfigEdit {
  readonly path: readonly [string, ...string[]];
  readonly value: unknown;
}

export interface SavedConfig {
  readonly isNew: boolean;
  readonly isChanged: boolean;
  readonly text: string;
  /** All that the file has now: the text, behind a byte order mark where there is one. */
  readonly written: string;
}

/** Reads a configuration to change it; one that is not there begins as the commented first one. */
export async function readForEdit(file: string): Promise<ConfigDocument> {
  const current = await currentText(file);
  return documentFrom(file, current ?? STARTER, current === undefined);
}

/** As if the file had this text. */
export function documentFrom(file: string, text: string, isNew = false): ConfigDocument {
  const parsed = parseDocument(text);
  if ('problem' in parsed) {
    const { line, column } = positionAt(text, parsed.problem.offset);
    throw new GatewayError(
      'CONFIG_INVALID',
      `${file}:${line}:${column}: ${parsed.problem.message}; mend it first, with \`trunkline edit\``,
      { details: { file, line, column } },
    );
  }
  return { file, text, isNew, servers: serversIn(text) };
}

/**
 * Changes a configuration and keeps everything else of it: comments, order, formatting. Nothing is written that could not
 * be read again, nor over a file that somebody else changed meanwhile.
 */
export async function editConfig(
  document: ConfigDocument,
  edits: readonly ConfigEdit[],
  version: string,
): Promise<SavedConfig> {
  const text = edits.reduce((before, { path, value }) => withMember(before, path, value), document.text);
  return saveConfig(document, text, version);
}

/** Writes a new text of a configuration, under the same conditions. */
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
    return await write(document, text);
  } catch (error) {
    throw isUnwritable(error) && !(error instanceof GatewayError) ? unwritable(file, error) : error;
  }
}

async function write({ file, isNew, text: old }: ConfigDocument, text: string): Promise<SavedConfig> {
  await makeFolder(dirname(file), 0o700);
  // A link, as into a folder of dot files, stays one.
  const target = await realpath(file).catch(() => file);
  const unlock = await locked(target);
  try {
    if ((await currentText(file)) !== (isNew ? undefined : old)) throw conflict(file);
    const mode = isNew ? 0o600 : (await stat(target)).mode & 0o777;
    const written = (await hasMark(target)) ? `\uFEFF${text}` : text;
    await writeFileAtomic(target, written, mode);
    return { isNew, isChanged: true, text, written };
  } finally {
    await unlock();
  }
}

/** Throws when the text is no configuration, or has a server that cannot be used and could be before. */
export function checkEdit({ file, isNew, text: old }: ConfigDocument, text: string, version: string): void {
  const { unusable } = checkText(file, text, version);
  const before = new Set(isNew ? [] : unusableIn(file, old, version));
  const [worse] = unusable.filter(({ name }) => !before.has(name));
  if (worse !== undefined) throw new GatewayError('CONFIG_INVALID', worse.message, { details: { file } });
}

interface Unusable {
  readonly name: string;
  readonly message: string;
}

/** Throws when the text is no configuration; tells which of its servers would be left out, and why. */
export function checkText(
  file: string,
  text: string,
  version: string,
): { readonly unusable: readonly Unusable[] } {
  const { value, disabled, warnings } = validateConfig({
    file,
    text,
    revision: configRevision(text, version),
  });
  const usable = new Set<string>([...value.upstreams.map(({ name }) => name), ...disabled]);
  const unusable = [...serversIn(text).keys()].flatMap((name) => {
    if (usable.has(name)) return [];
    const at = formatPath([SERVERS, name]);
    const own = warnings.filter(
      ({ path }) => path === at || path.startsWith(`${at}.`) || path.startsWith(`${at}[`),
    );
    const lines = own.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`);
    return [{ name, message: lines.join('\n') || `${file}: server "${name}" cannot be used` }];
  });
  return { unusable };
}

function unusableIn(file: string, text: string, version: string): readonly string[] {
  try {
    return checkText(file, text, version).unusable.map(({ name }) => name);
  } catch {
    return []; // It was broken as a whole, so that anything is better.
  }
}

/** The entries of `mcpServers` as they are written. */
export function serversIn(text: string): ReadonlyMap<string, unknown> {
  const parsed = parseDocument(text);
  if ('problem' in parsed) return new Map();
  const path: DocumentPath = [SERVERS];
  const node = nodeAt(parsed.root, path);
  return new Map(
    (node === undefined ? [] : membersOf(node)).map(({ key, valueNode }) => [key, valueOf(valueNode)]),
  );
}

async function currentText(file: string): Promise<string | undefined> {
  try {
    return await readConfigText(file);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'CONFIG_NOT_FOUND') return undefined;
    throw error;
  }
}

async function hasMark(file: string): Promise<boolean> {
  const bytes = await readFile(file).catch(() => Buffer.alloc(0));
  return bytes.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf]));
}

/** Two commands at the same time take turns, so that the second one sees what the first one wrote. */
async function locked(file: string): Promise<() => Promise<void>> {
  const lock = `${file}.lock`;
  for (const until = Date.now() + STALE_LOCK_MS; ;) {
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
      else if (Date.now() > until) throw conflict(file);
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }
}

/** There is no place for it, or not for us. */
export function unwritable(file: string, error: unknown): GatewayError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  const message = `${file} cannot be written (${code}), and nothing was changed. Name another file with --config, or see to it that you may write there`;
  return new GatewayError('CONFIG_READ_ONLY', message, { cause: error, details: { file } });
}

export function conflict(file: string): GatewayError {
  const message = `${file} was changed by somebody else meanwhile, and was left as it is now; run the command again`;
  return new GatewayError('REVISION_CONFLICT', message, { details: { file } });
}
