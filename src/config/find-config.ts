import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join, posix, resolve, win32 } from 'node:path';

import { GatewayError } from '../core/errors.ts';
import { readInlineConfig } from './file/inline-config.ts';
import { untrustedConfigError } from './file/untrusted-config-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Locations {
  /** The user's own configuration, whether it exists or not. */
  readonly configFile: string;
  readonly stateDir: string;
}

/** Returns the paths of this user's configuration and state. */
export function resolveLocations(options: {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly home: string;
}): Locations {
  const { env, platform, home } = options;
  const path = platform === 'win32' ? win32 : posix;
  const ownHome = env['TRUNKLINE_HOME'];
  if (ownHome !== undefined && ownHome !== '') {
    const folder = /^~(?:[/\\]|$)/.test(ownHome) ? path.join(home, ownHome.slice(1)) : ownHome;
    if (!path.isAbsolute(folder)) {
      throw new GatewayError('USAGE', `TRUNKLINE_HOME must be an absolute path, but is "${ownHome}"`);
    }
    return { configFile: path.join(folder, 'config.jsonc'), stateDir: path.join(folder, 'state') };
  }
  // The XDG specification says that a relative path counts as unset.
  const resolveBase = (name: string, ...defaultPath: string[]): string => {
    const value = env[name];
    return value !== undefined && path.isAbsolute(value) ? value : path.join(home, ...defaultPath);
  };
  if (platform === 'darwin') {
    const folder = path.join(home, 'Library', 'Application Support', 'trunkline');
    return { configFile: path.join(folder, 'config.jsonc'), stateDir: path.join(folder, 'state') };
  }
  if (platform === 'win32') {
    return {
      configFile: path.join(resolveBase('APPDATA', 'AppData', 'Roaming'), 'trunkline', 'config.jsonc'),
      stateDir: path.join(resolveBase('LOCALAPPDATA', 'AppData', 'Local'), 'trunkline', 'state'),
    };
  }
  return {
    configFile: path.join(resolveBase('XDG_CONFIG_HOME', '.config'), 'trunkline', 'config.jsonc'),
    stateDir: path.join(resolveBase('XDG_STATE_HOME', '.local', 'state'), 'trunkline'),
  };
}

/**
 * Returns the state folder of a configuration. The user's own configuration uses `stateDir` itself, and every other one a folder in it,
 * because two configurations with the same state would invalidate each other's caches at every start.
 */
export function resolveStateDir(
  file: string,
  locations: Locations,
  servers?: Readonly<Record<string, unknown>>,
): string {
  if (file === locations.configFile && servers === undefined) return locations.stateDir;
  const text = servers === undefined ? file : `${file}\0${JSON.stringify(servers)}`;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return join(locations.stateDir, 'configs', hash);
}

export interface FoundConfig {
  /** Absolute. */
  readonly file: string;
  /** `inline`: an environment variable holds the configuration, and `file` does not exist. */
  readonly from: 'flag' | 'inline' | 'environment' | 'project' | 'user';
  readonly text?: string;
}

/** Decides which configuration is used. Only the existence of a project's file is checked on disk. */
export async function findConfig(options: {
  /** The value of `--config`. */
  readonly flag: string | undefined;
  readonly env: Environment;
  readonly cwd: string;
  readonly locations: Locations;
  readonly isTrusted: (file: string) => Promise<boolean>;
}): Promise<FoundConfig> {
  const { flag, env, cwd } = options;
  const fromEnvironment = env['TRUNKLINE_CONFIG'];
  // The command line sets the flag from the variable, so a flag that equals the variable counts as unset, like an empty flag.
  if (flag !== undefined && flag !== '' && flag !== fromEnvironment) {
    return { file: resolve(cwd, flag), from: 'flag' };
  }
  const inline = readInlineConfig(env, cwd);
  if (inline !== undefined) return { ...inline, from: 'inline' };
  if (fromEnvironment !== undefined && fromEnvironment !== '') {
    return { file: resolve(cwd, fromEnvironment), from: 'environment' };
  }
  const project = resolve(cwd, 'trunkline.jsonc');
  if (!(await isPresent(project))) return { file: options.locations.configFile, from: 'user' };
  if (await options.isTrusted(project)) return { file: project, from: 'project' };
  throw untrustedConfigError(project, 'at-start');
}

async function isPresent(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    // Any other failure is reported when the file is read; falling back to another file would hide it.
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
  }
}
