import { posix, win32 } from 'node:path';
import type { ClientEnvironment, SourceFile } from './import-source.ts';

/** Returns the path module of the environment's platform, which may differ from that of this process. */
export function pathModuleFor({ platform }: Pick<ClientEnvironment, 'platform'>): typeof posix {
  return platform === 'win32' ? win32 : posix;
}

/** Returns a path in the home folder. */
export function homePath(environment: ClientEnvironment, ...parts: readonly string[]): string {
  return pathModuleFor(environment).join(environment.home, ...parts);
}

/** Returns a path in the settings folder of desktop applications. */
export function appDataPath(environment: ClientEnvironment, ...parts: readonly string[]): string {
  const { platform, env } = environment;
  if (platform === 'darwin') return homePath(environment, 'Library', 'Application Support', ...parts);
  if (platform === 'win32') {
    return win32.join(nonEmpty(env['APPDATA']) ?? homePath(environment, 'AppData', 'Roaming'), ...parts);
  }
  return configHomePath(environment, ...parts);
}

/** Returns a path in the XDG configuration folder, which Unix tools also use on macOS. */
export function configHomePath(environment: ClientEnvironment, ...parts: readonly string[]): string {
  const { env, platform } = environment;
  const xdgHome = nonEmpty(env['XDG_CONFIG_HOME']);
  const base = xdgHome !== undefined && platform !== 'win32' ? xdgHome : homePath(environment, '.config');
  return pathModuleFor(environment).join(base, ...parts);
}

/**
 * Resolves the path of a client's file. The path uses `/` on every platform and must begin with `~` (the home folder), `{config}`
 * (the XDG configuration folder), `{appData}` (the settings of desktop applications) or `{VARIABLE|~/folder}` (a folder that a variable can
 * override).
 */
export function resolveClientPath(environment: ClientEnvironment, path: string): string {
  const [first = '', ...rest] = path.split(/\/(?![^{]*\})/);
  if (first === '{config}') return configHomePath(environment, ...rest);
  if (first === '{appData}') return appDataPath(environment, ...rest);
  const [, variable = '', folder = first] = /^\{(\w+)\|(.*)\}$/.exec(first) ?? [];
  const overridden = nonEmpty(environment.env[variable]);
  if (overridden !== undefined) return pathModuleFor(environment).join(overridden, ...rest);
  return homePath(environment, ...folder.split('/').slice(1), ...rest);
}

export function userFile(path: string): SourceFile {
  return { path, scope: 'user' };
}

/** Returns a file in the working directory. */
export function projectFile(environment: ClientEnvironment, ...parts: readonly string[]): SourceFile {
  return { path: pathModuleFor(environment).join(environment.cwd, ...parts), scope: 'project' };
}

/** Treats an empty environment variable as unset. */
export function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

/** Returns the environment of Windows applications if this process runs in the Windows Subsystem for Linux. */
export function windowsHostEnvironment({
  platform,
  env,
  cwd,
}: ClientEnvironment): ClientEnvironment | undefined {
  const profile = nonEmpty(env['USERPROFILE']);
  const isWsl = platform === 'linux' && nonEmpty(env['WSL_DISTRO_NAME']) !== undefined;
  if (!isWsl || profile === undefined) return undefined;
  const home = toWslPath(profile);
  const appData = nonEmpty(env['APPDATA']);
  return {
    // The Windows files are read through Linux paths.
    platform: 'linux',
    home,
    cwd,
    env: { XDG_CONFIG_HOME: appData === undefined ? `${home}/AppData/Roaming` : toWslPath(appData) },
  };
}

/** Converts `C:\Users\me` to `/mnt/c/Users/me`. */
function toWslPath(path: string): string {
  const [, drive, rest = ''] = /^([A-Za-z]):[\\/](.*)$/s.exec(path) ?? [];
  return drive === undefined ? path : `/mnt/${drive.toLowerCase()}/${rest.replaceAll('\\', '/')}`;
}
