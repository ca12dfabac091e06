import { posix, win32 } from 'node:path';
import type { Places, SourceFile } from './source.ts';

/** Paths as the platform in question writes them, whatever this one is. */
export function pathsOf({ platform }: Pick<Places, 'platform'>): typeof posix {
  return platform === 'win32' ? win32 : posix;
}

/** Below the home folder. */
export function atHome(places: Places, ...parts: readonly string[]): string {
  return pathsOf(places).join(places.home, ...parts);
}

/** Below the folder that desktop programs keep their settings in. */
export function inAppData(places: Places, ...parts: readonly string[]): string {
  const { platform, env } = places;
  if (platform === 'darwin') return atHome(places, 'Library', 'Application Support', ...parts);
  if (platform === 'win32')
    return win32.join(set(env['APPDATA']) ?? atHome(places, 'AppData', 'Roaming'), ...parts);
  return inConfig(places, ...parts);
}

/** Below the folder of settings as programs from the world of Unix see it, on every platform but Windows. */
export function inConfig(places: Places, ...parts: readonly string[]): string {
  const { env } = places;
  const base = set(env['XDG_CONFIG_HOME']);
  return pathsOf(places).join(
    base !== undefined && places.platform !== 'win32' ? base : atHome(places, '.config'),
    ...parts,
  );
}

export function ofUser(path: string): SourceFile {
  return { path, scope: 'user' };
}

/** Below the folder in which the person is. */
export function ofProject(places: Places, ...parts: readonly string[]): SourceFile {
  return { path: pathsOf(places).join(places.cwd, ...parts), scope: 'project' };
}

/** A variable that is set to something. */
export function set(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

/** The Windows home of a person in the Windows Subsystem for Linux, where its desktop programs keep their files. */
export function windowsPlaces({ platform, env, cwd }: Places): Places | undefined {
  const profile = set(env['USERPROFILE']);
  if (platform !== 'linux' || set(env['WSL_DISTRO_NAME']) === undefined || profile === undefined)
    return undefined;
  const home = mounted(profile);
  const appData = set(env['APPDATA']);
  return {
    // Its files are read from here, so that paths are written as here.
    platform: 'linux',
    home,
    cwd,
    env: { XDG_CONFIG_HOME: appData === undefined ? `${home}/AppData/Roaming` : mounted(appData) },
  };
}

/** `C:\Users\me` is `/mnt/c/Users/me` there. */
function mounted(path: string): string {
  const [, drive, rest = ''] = /^([A-Za-z]):[\\/](.*)$/s.exec(path) ?? [];
  return drive === undefined ? path : `/mnt/${drive.toLowerCase()}/${rest.replaceAll('\\', '/')}`;
}
