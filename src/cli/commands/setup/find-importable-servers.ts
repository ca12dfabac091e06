import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { findServers, readSourceFile } from '../../../setup/import/find-servers.ts';
import type { FoundFile } from '../../../setup/import/find-servers.ts';
import type { GatewayIdentity } from '../../../setup/import/gateway-entry.ts';
import { readGatewayIdentity } from '../../../setup/import/gateway-entry.ts';
import type { ClientEnvironment, ImportSource } from '../../../setup/import/import-source.ts';
import { anyFileSource, importSources } from '../../../setup/import/sources/sources.ts';
import { quoteShellWord } from '../../../core/lib/quote-shell-word.ts';
import { findSimilar } from '../../../core/lib/find-similar.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { CliContext } from '../../context.ts';

/** The maximum length of an imported file, in characters. It is larger than any configuration of a client. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

/** The files to import from. */
interface ImportableServers {
  readonly found: readonly FoundFile[];
  /** Files of the current folder that were left out, because anybody may have written them. Only `--from FILE` reads them. */
  readonly leftOut: readonly FoundFile[];
}

/** Finds the servers of the clients and files that `--from` names, or of all clients on this machine. */
export async function findImportableServers(
  from: readonly string[] | undefined,
  context: CliContext,
): Promise<ImportableServers> {
  const environment = toClientEnvironment(context);
  if (from === undefined) return splitFiles(await findServers(importSources, environment, readText));
  const [found, leftOut]: [FoundFile[], FoundFile[]] = [[], []];
  for (const name of from) {
    const source = importSources.find(({ id }) => id === name);
    if (source === undefined) {
      found.push(await readNamedFile(name, context));
      continue;
    }
    const files = splitFiles(await findServers([source], environment, readText));
    if (files.found.length === 0) throw noFileError(source, files.leftOut, environment);
    found.push(...files.found);
    leftOut.push(...files.leftOut);
  }
  return { found, leftOut };
}

function splitFiles(files: readonly FoundFile[]): ImportableServers {
  return {
    found: files.filter(({ scope }) => scope === 'user'),
    leftOut: files.filter(({ scope }) => scope === 'project'),
  };
}

/** Reads a file that the user named. Everything but a client's own file counts as a file of a project. */
async function readNamedFile(name: string, context: CliContext): Promise<FoundFile> {
  const environment = toClientEnvironment(context);
  const path = resolve(context.cwd, name);
  let scope: FoundFile['scope'] = 'project';
  for (const source of importSources) {
    const known = source.files(environment).find((file) => file.path === path);
    if (known === undefined) continue;
    const found = await readSourceFile(source, known, environment, readText);
    if (found !== undefined && found.servers.length > 0) return found;
    if (known.scope === 'user') scope = 'user';
  }
  // No known client has servers in this file, so its format is detected.
  const file = await readSourceFile(anyFileSource, { path, scope: 'user' }, environment, readText);
  if (file === undefined) throw unknownSourceError(name);
  return { ...file, scope };
}

function noFileError(
  source: ImportSource,
  leftOut: readonly FoundFile[],
  environment: ClientEnvironment,
): GatewayError {
  const [first] = leftOut;
  if (first !== undefined)
    return new GatewayError(
      'ENTRY_NOT_FOUND',
      `Only ${first.path} has servers of ${source.title}. It belongs to the current folder, so it is imported only if you name it: trunkline import --from ${quoteShellWord(first.path)}`,
    );
  const paths = source.files(environment).map(({ path }) => `\n  ${path}`);
  return new GatewayError(
    'ENTRY_NOT_FOUND',
    `No configuration of ${source.title} was found. These files do not exist:${paths.join('')}`,
  );
}

export function toClientEnvironment({ platform, home, env, cwd }: CliContext): ClientEnvironment {
  return { platform, home, env, cwd };
}

/** Returns the paths and addresses by which clients may refer to this program in their configurations. */
export function getOwnIdentity({ program }: CliContext, configText: string): GatewayIdentity {
  return readGatewayIdentity(program.at(-1) ?? '', { configText });
}

/** Returns undefined if the file does not exist. */
async function readText(path: string): Promise<string | undefined> {
  try {
    const text = await readFile(path, 'utf8');
    if (text.length > MAX_CHARACTERS) throw new Error('it is too large to be a configuration');
    return text;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (typeof code === 'string') throw new Error(`it cannot be read (${code})`, { cause: error });
    throw error;
  }
}

function unknownSourceError(name: string): GatewayError {
  const ids = importSources.map(({ id }) => id);
  const [suggestion] = findSimilar(name, ids, 1);
  const hint =
    suggestion === undefined ? `Give a file, or one of ${ids.join(', ')}.` : `Did you mean ${suggestion}?`;
  return new GatewayError('USAGE', `"${name}" is neither a known client nor an existing file. ${hint}`);
}
