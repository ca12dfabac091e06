import { accessSync, constants, statSync } from 'node:fs';
import { posix, win32 } from 'node:path';

interface SearchOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The folder to which relative paths refer. */
  readonly cwd: string;
  readonly isProgram?: ((path: string) => boolean) | undefined;
}

/** Returns the file that a command would run, or undefined if there is none. */
export function findProgram(command: string, options: SearchOptions): string | undefined {
  const { env, platform, cwd, isProgram = canRun } = options;
  const isWindows = platform === 'win32';
  const path = isWindows ? win32 : posix;
  const isPath = command.includes('/') || (isWindows && command.includes('\\'));
  const folders = isPath
    ? ['']
    : (env['PATH'] ?? env['Path'] ?? '').split(path.delimiter).filter((each) => each !== '');
  const endings = isWindows ? ['', ...(env['PATHEXT'] ?? '.COM;.EXE;.BAT;.CMD').split(';')] : [''];
  for (const folder of folders) {
    for (const ending of endings) {
      const file = path.resolve(cwd, folder, command + ending);
      if (isProgram(file)) return file;
    }
  }
  return undefined;
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
