import { parse } from 'smol-toml';
import { isJsonObject } from '../../../core/json.ts';
import { literalDialect } from '../dialect.ts';
import { convertClientEntry } from '../convert-client-entry.ts';
import { listServerEntries } from '../client-json.ts';
import { homePath, nonEmpty, pathModuleFor, projectFile, userFile } from '../client-paths.ts';
import type { ImportSource } from '../import-source.ts';

export const codex: ImportSource = {
  id: 'codex',
  title: 'Codex',
  files: (environment) => {
    const folder = nonEmpty(environment.env['CODEX_HOME']) ?? homePath(environment, '.codex');
    const file = pathModuleFor(environment).join(folder, 'config.toml');
    return [userFile(file), projectFile(environment, '.codex', 'config.toml')];
  },
  read: (text, context) => {
    const root: unknown = parse(text.replace(/^\uFEFF/, ''));
    if (!isJsonObject(root)) return [];
    const folder = context.scope === 'project' ? context.environment.cwd : undefined;
    return listServerEntries(root, 'mcp_servers').map(([name, raw]) =>
      convertClientEntry(name, raw, { context, dialect: literalDialect, folder }),
    );
  },
};
