import { existsSync } from 'node:fs';
import { resolveLocations } from '../../../config/find-config.ts';
import { connectableClients } from '../../../setup/connect/connectable-clients.ts';
import { ConnectionHistory } from '../../../setup/connect/connection-history.ts';
import type { ImportSource } from '../../../setup/import/import-source.ts';
import { importSources } from '../../../setup/import/sources/sources.ts';
import type { CliContext } from '../../context.ts';

interface ClientCandidate {
  readonly text: string;
  readonly about: string;
}

/** Lists the ids of clients for completion. Clients with a file on this machine come first. */
export async function listClients(
  which: 'connectable' | 'importable' | 'connected',
  context: CliContext,
): Promise<readonly ClientCandidate[]> {
  if (which === 'importable') return sortByPresence(importSources, context);
  const sources = connectableClients.map(({ source }) => source);
  if (which === 'connectable')
    return [...sortByPresence(sources, context), { text: 'other', about: 'print the entry to paste' }];
  const connected = await new ConnectionHistory(resolveLocations(context).stateDir).clients();
  return sortByPresence(
    sources.filter(({ id }) => connected.includes(id)),
    context,
  );
}

function sortByPresence(sources: readonly ImportSource[], context: CliContext): readonly ClientCandidate[] {
  const candidates = sources.map(({ id, title, files }) => {
    const isPresent = files(context).some(({ path, scope }) => scope === 'user' && existsSync(path));
    return { text: id, about: isPresent ? `${title}, on this machine` : title, isPresent };
  });
  return [
    ...candidates.filter(({ isPresent }) => isPresent),
    ...candidates.filter(({ isPresent }) => !isPresent),
  ];
}
