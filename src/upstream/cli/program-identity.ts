import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** Which program this is, in a way that changes when it is replaced. */
export interface ProgramIdentity {
  /** As it is started. */
  readonly path: string;
  /** Path, size and time of the file, and of arguments that are files, as of a script for an interpreter. */
  readonly files: readonly string[];
}

/** Finds the program as the system would; undefined where there is none. */
export async function identify(options: {
  readonly command: string;
  readonly args: readonly string[];
  readonly path: string | undefined;
  /** Empty for ours. */
  readonly cwd: string;
}): Promise<ProgramIdentity | undefined> {
  const path = await find(options);
  if (path === undefined) return undefined;
  const own = await stampOf(path);
  const others = await Promise.all(
    options.args
      .filter((arg) => !arg.startsWith('-') && /[./\\]/.test(arg))
      .map((arg) => stampOf(resolve(options.cwd, arg))),
  );
  return { path, files: [own, ...others].flatMap((stamp) => stamp ?? []) };
}

async function find({ command, path, cwd }: Parameters<typeof identify>[0]): Promise<string | undefined> {
  const isPath = /[/\\]/.test(command);
  const folders = isPath ? [''] : (path ?? '').split(delimiter).filter((folder) => folder !== '');
  const endings = process.platform === 'win32' ? ['', '.exe', '.com'] : [''];
  for (const folder of folders) {
    for (const ending of endings) {
      const file = isPath ? resolve(cwd, command + ending) : join(folder, command + ending);
      if (isAbsolute(file) && (await isProgram(file))) return file;
    }
  }
  return undefined;
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false; // Not there, or not for us.
  }
}

async function stampOf(file: string): Promise<string | undefined> {
  try {
    const real = await realpath(file);
    const { size, mtimeMs } = await stat(real);
    return `${real}\0${size}\0${mtimeMs}`;
  } catch {
    return undefined; // An argument that is no file.
  }
}
