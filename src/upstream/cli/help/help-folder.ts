import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../../lib/make-folder.ts';
import type { HelpCall } from './known-programs.ts';

interface HelpFolder extends AsyncDisposable {
  readonly path: string;
}

/** A throw-away folder for a program that tells its help in such a one only; undefined where it needs none, or none can be made. */
export async function helpFolder(
  { files }: Pick<HelpCall, 'files'>,
  within: string,
): Promise<HelpFolder | undefined> {
  if (files === undefined) return undefined;
  let path: string | undefined;
  const remove = async (): Promise<void> => {
    if (path !== undefined) await rm(path, { recursive: true, force: true }).catch(() => {});
  };
  try {
    await makeFolder(within, 0o700);
    path = await mkdtemp(join(within, 'help-'));
    for (const [name, text] of Object.entries(files)) {
      const file = join(path, name);
      await makeFolder(name.endsWith('/') ? file : dirname(file));
      if (!name.endsWith('/')) await writeFile(file, text);
    }
    return { path, [Symbol.asyncDispose]: remove };
  } catch {
    await remove();
    return undefined; // Some of the help is better than none.
  }
}
