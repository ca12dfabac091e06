import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** Identifies a program. The value changes when the program is replaced. */
interface ProgramIdentity {
  /** The path that is executed. */
  readonly path: string;
  /** Path, size and modification time of the program, and of arguments that are files, such as a script for an interpreter. */
  readonly files: readonly string[];
}

/** Finds a program as the operating system would; returns undefined if there is none. */
export async function identifyProgram(options: {
  readonly command: string;
  readonly args: readonly string[];
  readonly path: string | undefined;
  /** Empty for the working directory of the gateway. */
  readonly cwd: string;
}): Promise<ProgramIdentity | undefined> {
  const path = await findExecutable(options);
  if (path === undefined) return undefined;
  const program = await readFileStamp(path);
  const others = await Promise.all(
    options.args
      .filter((arg) => !arg.startsWith('-') && /[./\\]/.test(arg))
      .map((arg) => readFileStamp(resolve(options.cwd, arg))),
  );
  return { path, files: [program, ...others].flatMap((stamp) => stamp ?? []) };
}

async function findExecutable({
  command,
  path,
  cwd,
}: Parameters<typeof identifyProgram>[0]): Promise<string | undefined> {
  const isPath = /[/\\]/.test(command);
  const folders = isPath ? [''] : (path ?? '').split(delimiter).filter((folder) => folder !== '');
  const endings = process.platform === 'win32' ? ['', '.exe', '.com'] : [''];
  for (const folder of folders) {
    for (const ending of endings) {
      const file = isPath ? resolve(cwd, command + ending) : join(folder, command + ending);
      if (isAbsolute(file) && (await isExecutable(file))) return file;
    }
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false; // It does not exist or cannot be executed.
  }
}

async function readFileStamp(file: string): Promise<string | undefined> {
  try {
    const real = await realpath(file);
    const { size, mtimeMs } = await stat(real);
    return `${real}\0${size}\0${mtimeMs}`;
  } catch {
    return undefined; // The argument is not a file.
  }
}
