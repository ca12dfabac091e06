import { createHash, randomBytes } from 'node:crypto';
import { constants, copyFile, link, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, posix, resolve, win32 } from 'node:path';

import { makeFolder } from '../lib/make-folder.ts';
import { shellWord } from '../lib/shell-word.ts';
import { GatewayError } from '../model/errors.ts';
import { inlineConfig } from './file/inline.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Locations {
  /** The user's own configuration, whether it exists or not. */
  readonly configFile: string;
  readonly stateDir: string;
}

/** Where this user's configuration and state are. */
export function locations(options: {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly home: string;
}): Locations {
  const { env, platform, home } = options;
  const path = platform === 'win32' ? win32 : posix;
  const moved = env['TRUNKLINE_HOME'];
  if (moved !== undefined && moved !== '') {
    const folder = /^~(?:[/\\]|$)/.test(moved) ? path.join(home, moved.slice(1)) : moved;
    if (!path.isAbsolute(folder)) {
      throw new GatewayError('USAGE', `TRUNKLINE_HOME must be an absolute path, and it is "${moved}"`);
    }
    return { configFile: path.join(folder, 'config.jsonc'), stateDir: path.join(folder, 'state') };
  }
  // The XDG rules say that a relative path counts as not set.
  const base = (name: string, ...usual: string[]): string => {
    const value = env[name];
    return value !== undefined && path.isAbsolute(value) ? value : path.join(home, ...usual);
  };
  if (platform === 'darwin') {
    const folder = path.join(home, 'Library', 'Application Support', 'trunkline');
    return { configFile: path.join(folder, 'config.jsonc'), stateDir: path.join(folder, 'state') };
  }
  if (platform === 'win32') {
    return {
      configFile: path.join(base('APPDATA', 'AppData', 'Roaming'), 'trunkline', 'config.jsonc'),
      stateDir: path.join(base('LOCALAPPDATA', 'AppData', 'Local'), 'trunkline', 'state'),
    };
  }
  return {
    configFile: path.join(base('XDG_CONFIG_HOME', '.config'), 'trunkline', 'config.jsonc'),
    stateDir: path.join(base('XDG_STATE_HOME', '.local', 'state'), 'trunkline'),
  };
}

/**
 * What is remembered belongs to one configuration: two that took turns in one place would make every start a first one. The
 * user's own has the state folder itself, every other one a folder in it.
 */
export function stateDirOf(
  file: string,
  places: Locations,
  servers?: Readonly<Record<string, unknown>>,
): string {
  if (file === places.configFile && servers === undefined) return places.stateDir;
  const text = servers === undefined ? file : `${file}\0${JSON.stringify(servers)}`;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return join(places.stateDir, 'configs', hash);
}

export interface FoundConfig {
  /** Absolute. */
  readonly file: string;
  /** `inline`: a variable holds all of it, and there is no such file. */
  readonly from: 'flag' | 'inline' | 'environment' | 'project' | 'user';
  readonly text?: string;
}

/** Decides which one configuration is used; only a project's is looked for on disk. */
export async function findConfig(options: {
  /** Of `--config`. */
  readonly flag: string | undefined;
  readonly env: Environment;
  readonly cwd: string;
  readonly locations: Locations;
  readonly isTrusted: (file: string) => Promise<boolean>;
}): Promise<FoundConfig> {
  const { flag, env, cwd } = options;
  const named = env['TRUNKLINE_CONFIG'];
  // An empty variable is as good as none, and the command line does not tell it from a flag.
  if (flag !== undefined && flag !== '' && flag !== named) return { file: resolve(cwd, flag), from: 'flag' };
  const inline = inlineConfig(env, cwd);
  if (inline !== undefined) return { ...inline, from: 'inline' };
  if (named !== undefined && named !== '') return { file: resolve(cwd, named), from: 'environment' };
  const project = resolve(cwd, 'trunkline.jsonc');
  if (!(await exists(project))) return { file: options.locations.configFile, from: 'user' };
  if (await options.isTrusted(project)) return { file: project, from: 'project' };
  const command = `trunkline trust ${shellWord(project)}`;
  throw new GatewayError(
    'CONFIG_UNTRUSTED',
    `${project} can start programs on this machine and is new or has changed. ` +
      `Read it, then run \`${command}\`, or name another file with --config`,
    { details: { file: project, command } },
  );
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    // Any other trouble is told when the file is read, instead of silently taking another one.
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
  }
}

/** What a first configuration holds. */
export const STARTER = `// Configuration of Trunkline. JSON with comments; trailing commas are fine.
// A gateway that runs takes changes into use by itself; \`trunkline status\` says why, if it cannot.
{
  // The MCP servers behind the gateway, as most MCP clients write them; "trunkline import" takes over what yours have.
  "mcpServers": {
    // A program that is started when it is needed:
    //
    // "files": {
    //   "command": "npx",
    //   "args": ["-y", "@modelcontextprotocol/server-filesystem", "/path/to/a/folder"]
    // },
    //
    // A server on the network; the token comes from the environment at the moment of use:
    //
    // "example": {
    //   "url": "https://mcp.example.com/mcp",
    //   "headers": { "Authorization": "Bearer \${env:EXAMPLE_TOKEN}" }
    // }
  }
}
`;

/** Writes a first configuration for a person to fill in; false when there is a file already, which stays as it is. */
export async function createStarterConfig(file: string): Promise<boolean> {
  const isThere = await stat(file).then(
    () => true,
    () => false,
  );
  if (isThere) return false;
  await makeFolder(dirname(file), 0o700);
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(temporary, STARTER, { flag: 'wx', mode: 0o600 });
    // Unlike a rename a link never replaces, and nobody sees half a file.
    await link(temporary, file).catch((error: unknown) => {
      if (isExisting(error)) throw error;
      // Some file systems have no links.
      return copyFile(temporary, file, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (error) {
    if (isExisting(error)) return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

function isExisting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}
