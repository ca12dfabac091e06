import { editConfig, readForEdit, saveConfig } from '../../../config/file/edit.ts';
import type { ConfigDocument, ConfigEdit, SavedConfig } from '../../../config/file/edit.ts';
import { keepTrust } from '../../../config/file/keep-trust.ts';
import { entryIn, refuseReadOnly } from '../../../manage/entry-in.ts';
import type { CliContext } from '../../context.ts';
import { linesToGateways } from '../../line/lines-to-gateways.ts';
import { restartNote } from '../restart-note.ts';
import { changeableConfig } from './changeable-config.ts';

/** The configuration that a command is about to change. */
export interface ConfigChange {
  readonly file: string;
  readonly stateDir: string;
  /** Where is kept which project configurations are trusted. */
  readonly trustDir: string;
  readonly document: ConfigDocument;
  /** As it is now, for whoever was not the first to change it. */
  again(): Promise<ConfigChange>;
  /** False when there was nothing to change. */
  save(edits: readonly ConfigEdit[]): Promise<boolean>;
  saveText(text: string): Promise<boolean>;
}

/** Reads the configuration of a command to change it. */
export async function configChange(flag: string | undefined, context: CliContext): Promise<ConfigChange> {
  const { file, stateDir, places } = await changeableConfig(flag, context);
  const document = await readForEdit(file);
  const saved = async (save: () => Promise<SavedConfig>): Promise<boolean> => {
    const { isChanged } = await keepTrust(document, places.stateDir, save);
    if (isChanged && document.isNew) context.out.note(`Wrote a first configuration to ${file}`);
    return isChanged;
  };
  return {
    file,
    stateDir,
    trustDir: places.stateDir,
    document,
    again: () => configChange(flag, context),
    save: async (edits) => {
      if (edits.length > 0) refuseReadOnly(document);
      return saved(() => editConfig(document, edits, context.version));
    },
    saveText: (text) => saved(() => saveConfig(document, text, context.version)),
  };
}

/** The entry of a server that a person named; with the names that may have been meant when there is none. */
export function entryOf({ document }: ConfigChange, name: string): unknown {
  return entryIn(document, name);
}

/** Lets a gateway that runs take a change into use now, and says what became of it. */
export async function tellRunning(
  { stateDir }: Pick<ConfigChange, 'stateDir'>,
  { out }: CliContext,
): Promise<void> {
  // Others that run see by themselves that the file has changed.
  const [reached] = await linesToGateways(stateDir);
  if (reached === undefined) return;
  const { problem, needsRestart } = await reached.line.client.ask('POST /api/config/reload', {});
  out.note(
    problem === undefined
      ? 'The running gateway has taken up the change.'
      : `The running gateway has not taken up the change yet: ${problem.message}`,
  );
  if (needsRestart.length > 0) out.note(restartNote(needsRestart));
}
