import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { findServers, readOne } from '../../../import/find-servers.ts';
import type { FoundFile } from '../../../import/find-servers.ts';
import type { OwnProgram } from '../../../import/own-entry.ts';
import { ownProgram as ownProgramAt } from '../../../import/own-program.ts';
import type { Places } from '../../../import/source.ts';
import { anyFile } from '../../../import/sources/any-file.ts';
import { sources } from '../../../import/sources/sources.ts';
import { nearest } from '../../../lib/nearest.ts';
import { GatewayError } from '../../../model/errors.ts';
import type { CliContext } from '../../context.ts';

/** Far more than any client writes. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

/** What `--from` names, or everything that is on this machine. */
export async function foundServers(
  from: readonly string[] | undefined,
  context: CliContext,
): Promise<readonly FoundFile[]> {
  const places = placesOf(context);
  if (from === undefined) return findServers(sources, places, readText);
  const found: FoundFile[] = [];
  for (const name of from) {
    const source = sources.find(({ id }) => id === name);
    if (source !== undefined) {
      const files = await findServers([source], places, readText);
      if (files.length === 0) {
        const looked = source.files(places).map(({ path }) => `\n  ${path}`);
        throw new GatewayError(
          'ENTRY_NOT_FOUND',
          `${source.title} has no configuration here. Looked for:${looked.join('')}`,
        );
      }
      found.push(...files);
      continue;
    }
    const file = await readOne(
      anyFile,
      { path: resolve(context.cwd, name), scope: 'user' },
      places,
      readText,
    );
    if (file === undefined) throw unknownSource(name);
    found.push(file);
  }
  return found;
}

export function placesOf({ platform, home, env, cwd }: CliContext): Places {
  return { platform, home, env, cwd };
}

/** How this program is known to those who may have it in their configuration. */
export function ownProgram({ program }: CliContext, configText: string): OwnProgram {
  return ownProgramAt(program.at(-1) ?? '', { configText });
}

/** Undefined where there is no such file. */
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

function unknownSource(name: string): GatewayError {
  const ids = sources.map(({ id }) => id);
  const [meant] = nearest(name, ids, 1);
  const hint = meant === undefined ? `Known are ${ids.join(', ')}, or a file.` : `Did you mean ${meant}?`;
  return new GatewayError('USAGE', `"${name}" is neither a client nor a file that is there. ${hint}`);
}
