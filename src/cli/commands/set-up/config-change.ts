import { editConfig, readForEdit, saveConfig } from '../../../config/edit.ts';
import type { ConfigDocument, ConfigEdit } from '../../../config/edit.ts';
import { isTrusted, trust } from '../../../config/trust.ts';
import { readRecord } from '../../../attach/gateway-record.ts';
import { nearest } from '../../../lib/nearest.ts';
import { GatewayError } from '../../../model/errors.ts';
import type { CliContext } from '../../context.ts';
import { foundConfig } from '../../found-config.ts';
import { lineToRecord } from '../../line-to-record.ts';

/** The configuration that a command is about to change. */
export interface ConfigChange {
  readonly file: string;
  readonly stateDir: string;
  readonly document: ConfigDocument;
  /** False when there was nothing to change. */
  save(edits: readonly ConfigEdit[]): Promise<boolean>;
  saveText(text: string): Promise<boolean>;
}

/** Reads the configuration of a command to change it. */
export async function configChange(flag: string | undefined, context: CliContext): Promise<ConfigChange> {
  const { file, stateDir, places } = await foundConfig(flag, context, { isMade: false });
  const document = await readForEdit(file);
  // What was trusted as it was before a change of our own is trusted after it.
  const wasTrusted = !document.isNew && (await isTrusted(file, places.stateDir));
  const saved = async ({ isChanged }: { readonly isChanged: boolean }): Promise<boolean> => {
    if (isChanged && wasTrusted) await trust(file, places.stateDir);
    if (isChanged && document.isNew) context.out.note(`Wrote a first configuration to ${file}`);
    return isChanged;
  };
  return {
    file,
    stateDir,
    document,
    save: async (edits) => saved(await editConfig(document, edits, context.version)),
    saveText: async (text) => saved(await saveConfig(document, text, context.version)),
  };
}

/** The entry of a server that a person named; with the names that may have been meant when there is none. */
export function entryOf({ document, file }: ConfigChange, name: string): unknown {
  if (document.servers.has(name)) return document.servers.get(name);
  const meant = nearest(name, document.servers.keys(), 3);
  const hint = meant.length === 0 ? '' : ` Did you mean ${meant.join(', ')}?`;
  throw new GatewayError('ENTRY_NOT_FOUND', `There is no server "${name}" in ${file}.${hint}`, {
    details: { server: name, file },
  });
}

/** Says what a gateway that runs needs to notice a change. */
export async function tellRunning(
  { stateDir }: Pick<ConfigChange, 'stateDir'>,
  { out }: CliContext,
): Promise<void> {
  const record = readRecord(stateDir);
  if (record === undefined || (await lineToRecord(record)) === undefined) return;
  out.note(
    record.kind === 'http'
      ? 'A gateway is running with the configuration as it was: start `trunkline serve --http` again.'
      : 'A gateway is running with the configuration as it was. `trunkline stop` ends it; connected clients get a new one when they ask for something.',
  );
}
