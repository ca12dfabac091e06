import { editConfig, readConfigDocument, saveConfig } from '../../../config/file/edit-config.ts';
import type { ConfigDocument, ConfigEdit, SavedConfig } from '../../../config/file/edit-config.ts';
import { preserveTrust } from '../../../config/file/config-trust.ts';
import { findEntry, assertWritable } from '../../../setup/manage/config-entries.ts';
import type { CliContext } from '../../context.ts';
import { findReachableGateways } from '../../gateway-client/reachable-gateways.ts';
import { formatRestartNote } from '../format-restart-note.ts';
import { locateEditableConfig } from './locate-editable-config.ts';

/** A configuration that a command changes. */
export interface EditableConfig {
  readonly file: string;
  readonly stateDir: string;
  /** The folder that records which project configurations are trusted. */
  readonly trustDir: string;
  readonly document: ConfigDocument;
  /** Reads the configuration again, after another process has changed it. */
  reread(): Promise<EditableConfig>;
  /** Saves edits. Returns false if they change nothing. */
  save(edits: readonly ConfigEdit[]): Promise<boolean>;
  saveText(text: string): Promise<boolean>;
}

/** Reads the configuration that a command changes. */
export async function openEditableConfig(
  flag: string | undefined,
  context: CliContext,
): Promise<EditableConfig> {
  const { file, stateDir, locations } = await locateEditableConfig(flag, context);
  const document = await readConfigDocument(file);
  const saveTrusted = async (save: () => Promise<SavedConfig>): Promise<boolean> => {
    const { isChanged } = await preserveTrust(document, locations.stateDir, save);
    if (isChanged && document.isNew) context.out.note(`Created the configuration ${file}`);
    return isChanged;
  };
  return {
    file,
    stateDir,
    trustDir: locations.stateDir,
    document,
    reread: () => openEditableConfig(flag, context),
    save: async (edits) => {
      if (edits.length > 0) assertWritable(document);
      return saveTrusted(() => editConfig(document, edits, context.version));
    },
    saveText: (text) => saveTrusted(() => saveConfig(document, text, context.version)),
  };
}

/** Returns the entry of a server. Throws an error with similar names if there is none. */
export function getServerEntry({ document }: EditableConfig, name: string): unknown {
  return findEntry(document, name);
}

/** Makes the running gateway reload the configuration, and reports the result. */
export async function reloadRunningGateway(
  { stateDir }: Pick<EditableConfig, 'stateDir'>,
  { out }: CliContext,
): Promise<void> {
  // Other running gateways notice the change of the file by themselves.
  const [gateway] = await findReachableGateways(stateDir);
  if (gateway === undefined) return;
  const { problem, needsRestart } = await gateway.connection.client.request('POST /api/config/reload', {});
  out.note(
    problem === undefined
      ? 'The running gateway has applied the change.'
      : `The running gateway has not applied the change: ${problem.message}`,
  );
  if (needsRestart.length > 0) out.note(formatRestartNote(needsRestart));
}
