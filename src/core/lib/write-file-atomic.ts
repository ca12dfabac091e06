import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from './make-folder.ts';

/** Writes a file so that readers see the old or the new text, never a part of it, even after a crash. */
export async function writeFileAtomic(path: string, text: string | Uint8Array, mode: number): Promise<void> {
  await makeFolder(dirname(path), 0o700);
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      // Sets the full mode, whatever the umask of the process.
      await file.chmod(mode);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
