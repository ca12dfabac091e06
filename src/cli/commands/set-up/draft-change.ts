import { readConfigText } from '../../../config/load.ts';
import { dirname } from 'node:path';
import { saveConfig, unwritable } from '../../../config/file/edit.ts';
import { keepTrust } from '../../../config/file/keep-trust.ts';
import { makeFolder } from '../../../lib/make-folder.ts';
import { GatewayError } from '../../../model/errors.ts';
import type { CliContext } from '../../context.ts';
import { changeableConfig } from './changeable-config.ts';

/** A configuration that a person edits as a whole, and that may be broken before. */
export interface DraftChange {
  readonly file: string;
  readonly stateDir: string;
  /** Undefined where there is none yet. */
  readonly text: string | undefined;
  save(text: string): Promise<void>;
}

export async function draftChange(flag: string | undefined, context: CliContext): Promise<DraftChange> {
  const { file, stateDir, places } = await changeableConfig(flag, context);
  const text = await readConfigText(file).catch((error: unknown) => {
    if (error instanceof GatewayError && error.code === 'CONFIG_NOT_FOUND') return undefined;
    throw error;
  });
  await makeFolder(dirname(file), 0o700).catch((error: unknown) => {
    throw unwritable(file, error);
  });
  return {
    file,
    stateDir,
    text,
    save: async (after) => {
      const document = { file, text: text ?? '', isNew: text === undefined, servers: new Map() };
      await keepTrust(document, places.stateDir, () => saveConfig(document, after, context.version));
    },
  };
}
