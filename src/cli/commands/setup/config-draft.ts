import { createHash } from 'node:crypto';
import { open, readdir, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { readConfigText } from '../../../config/load-config.ts';
import { saveConfig, configUnwritableError } from '../../../config/file/edit-config.ts';
import { preserveTrust } from '../../../config/file/config-trust.ts';
import { makeFolder } from '../../../core/lib/make-folder.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { CliContext } from '../../context.ts';
import { locateEditableConfig } from './locate-editable-config.ts';

/** The number of hash characters in the name of a draft. */
const MARK_LENGTH = 8;

/** A configuration that the user edits as text. Its current text may be invalid. */
export interface EditableConfigText {
  readonly file: string;
  readonly stateDir: string;
  /** Undefined if the file does not exist yet. */
  readonly text: string | undefined;
  save(text: string): Promise<void>;
}

export async function openEditableConfigText(
  flag: string | undefined,
  context: CliContext,
): Promise<EditableConfigText> {
  const { file, stateDir, locations } = await locateEditableConfig(flag, context);
  const text = await readConfigText(file).catch((error: unknown) => {
    if (error instanceof GatewayError && error.code === 'CONFIG_NOT_FOUND') return undefined;
    throw error;
  });
  await makeFolder(dirname(file), 0o700).catch((error: unknown) => {
    throw configUnwritableError(file, error);
  });
  return {
    file,
    stateDir,
    text,
    save: async (after) => {
      const document = { file, text: text ?? '', isNew: text === undefined, servers: new Map() };
      await preserveTrust(document, locations.stateDir, () => saveConfig(document, after, context.version));
    },
  };
}

/**
 * Returns the path of the draft, next to the file. The name contains a hash of the text that the draft starts from, because saving a
 * draft of an older text would undo later changes of the file.
 */
export function getDraftPath(file: string, text: string): string {
  const mark = createHash('sha256').update(text).digest('hex').slice(0, MARK_LENGTH);
  return join(dirname(file), `${basename(file, extname(file))}.draft-${mark}${extname(file)}`);
}

/** Returns drafts of the same file that started from other texts. */
export async function findOlderDrafts(draft: string): Promise<readonly string[]> {
  const [folder, own, extension] = [dirname(draft), basename(draft), extname(draft)];
  const start = own.slice(0, own.length - extension.length - MARK_LENGTH);
  const isDraft = (name: string): boolean =>
    name.startsWith(start) && name.endsWith(extension) && name.length === own.length;
  const names = await readdir(folder).catch((): string[] => []); // An unreadable folder has no drafts.
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
