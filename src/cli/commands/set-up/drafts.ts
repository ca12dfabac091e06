import { createHash } from 'node:crypto';
import { open, readdir, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';

const MARK_LENGTH = 8;

/** Beside the file, and named after the text that it begins from: what was begun from another text would undo what changed since. */
export function draftOf(file: string, text: string): string {
  const mark = createHash('sha256').update(text).digest('hex').slice(0, MARK_LENGTH);
  return join(dirname(file), `${basename(file, extname(file))}.draft-${mark}${extname(file)}`);
}

/** Drafts of the same file that were begun from other texts. */
export async function olderDrafts(draft: string): Promise<readonly string[]> {
  const [folder, own, extension] = [dirname(draft), basename(draft), extname(draft)];
  const start = own.slice(0, own.length - extension.length - MARK_LENGTH);
  const isDraft = (name: string): boolean =>
    name.startsWith(start) && name.endsWith(extension) && name.length === own.length;
  const names = await readdir(folder).catch((): string[] => []); // Nothing to read, nothing to name.
  return names.filter((name) => isDraft(name) && name !== own).map((name) => join(folder, name));
}

export async function writeDraft(draft: string, text: string): Promise<void> {
  await rm(draft, { force: true });
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}
