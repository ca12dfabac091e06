import { clients } from '../import/sources/clients.ts';
import type { ClientDeclaration, ConnectDeclaration } from '../import/sources/client-declaration.ts';
import { createClientSource } from '../import/sources/client-source.ts';
import type { ClientEnvironment, ImportSource } from '../import/import-source.ts';
import { jsonFormat, tomlFormat, yamlFormat } from './client-file-formats.ts';
import type { ClientFileFormat } from './client-file-formats.ts';

/** A client whose configuration `trunkline connect` can edit. */
export interface ConnectableClient {
  readonly source: ImportSource;
  readonly format: ClientFileFormat;
  /** Returns the candidates for the user's own file; the first one that exists is used. */
  readonly files: (environment: ClientEnvironment) => readonly string[];
  readonly declaration: ConnectDeclaration;
}

export const connectableClients: readonly ConnectableClient[] = clients.map((client) => {
  const source = createClientSource(client);
  const { fileName = '' } = client.connect;
  return {
    source,
    format: chooseFormat(client),
    files: (environment) =>
      source
        .files(environment)
        .filter(({ scope, path }) => scope === 'user' && path.endsWith(fileName))
        .map(({ path }) => path),
    declaration: client.connect,
  };
});

function chooseFormat({ syntax, servers, connect }: ClientDeclaration): ClientFileFormat {
  if (syntax === 'toml') return tomlFormat(servers[0]);
  if (syntax === 'yaml') return yamlFormat(servers[0], connect.isList === true ? 'list' : 'map');
  return jsonFormat(servers);
}
