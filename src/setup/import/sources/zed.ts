import { isJsonObject } from '../../../core/json.ts';
import { literalDialect } from '../dialect.ts';
import { convertClientEntry } from '../convert-client-entry.ts';
import { parseClientJson, listServerEntries } from '../client-json.ts';
import { appDataPath, configHomePath, projectFile, userFile } from '../client-paths.ts';
import type { ImportSource } from '../import-source.ts';

export const zed: ImportSource = {
  id: 'zed',
  title: 'Zed',
  files: (environment) => [
    userFile(
      environment.platform === 'win32'
        ? appDataPath(environment, 'Zed', 'settings.json')
        : configHomePath(environment, 'zed', 'settings.json'),
    ),
    projectFile(environment, '.zed', 'settings.json'),
  ],
  read: (text, context) =>
    listServerEntries(parseClientJson(text), 'context_servers').map(([name, raw]) => {
      const isExtension = isJsonObject(raw) && raw['command'] === undefined && raw['url'] === undefined;
      if (isExtension) return { name, problem: 'an extension of Zed starts it', remarks: [] };
      const folder = context.scope === 'project' ? context.environment.cwd : undefined;
      return convertClientEntry(name, raw, { context, dialect: literalDialect, folder });
    }),
};
