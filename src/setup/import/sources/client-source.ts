import { parse as parseToml } from 'smol-toml';
import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import { listServerEntries, parseClientJson, parseClientYaml } from '../client-json.ts';
import { projectFile, resolveClientPath, userFile } from '../client-paths.ts';
import { convertClientEntry } from '../convert-client-entry.ts';
import type { ImportedServer, ImportSource, SourceContext } from '../import-source.ts';
import type { ClientDeclaration } from './client-declaration.ts';

/** Creates the import source of a client from its declaration. */
export function createClientSource(client: ClientDeclaration): ImportSource {
  const { id, title, files, projectFiles = [] } = client;
  return {
    id,
    title,
    files: (environment) => [
      ...files.map((file) =>
        userFile(typeof file === 'string' ? resolveClientPath(environment, file) : file(environment)),
      ),
      ...projectFiles.map((path) => projectFile(environment, ...path.split('/'))),
    ],
    read: client.read ?? ((text, context) => readServers(client, parseText(text, client), context)),
  };
}

function parseText(text: string, { syntax }: Pick<ClientDeclaration, 'syntax'>): JsonObject {
  const content = text.replace(/^\uFEFF/, '');
  if (syntax === 'toml') return parseToml(content);
  return syntax === 'yaml' ? parseClientYaml(content) : parseClientJson(content);
}

/** Converts the servers below the keys of the declaration. */
export function readServers(
  client: Pick<ClientDeclaration, 'servers' | 'dialect' | 'timeoutUnit' | 'urlType' | 'prepare'>,
  root: JsonObject,
  context: SourceContext,
): readonly ImportedServer[] {
  const { dialect, timeoutUnit, urlType, prepare = (raw) => raw } = client;
  const folder = context.scope === 'project' ? context.environment.cwd : undefined;
  return listServerEntries(root, ...client.servers).map(([name, raw]) => {
    const prepared = isJsonObject(raw) ? prepare(raw) : raw;
    if (typeof prepared === 'string' && isJsonObject(raw)) return { name, problem: prepared, remarks: [] };
    return convertClientEntry(name, prepared, {
      context,
      dialect: dialect(context),
      timeoutUnit,
      urlType,
      folder,
    });
  });
}
