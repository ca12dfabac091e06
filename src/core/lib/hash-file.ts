import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';

/**
 * Returns the SHA-256 digest of a file, `NOT_A_FILE` if it is not a regular file, or `unreadable`. Does not read pipes and devices, because
 * a pipe can be read only once.
 */
export async function hashFile(file: string): Promise<string> {
  try {
    if (!(await stat(file)).isFile()) return NOT_A_FILE;
    return createHash('sha256')
      .update(await readFile(file))
      .digest('base64url');
  } catch {
    return 'unreadable';
  }
}

/** Returned by `hashFile` for something that exists but is not a regular file. */
export const NOT_A_FILE = 'no file';
