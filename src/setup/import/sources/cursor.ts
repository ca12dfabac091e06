import { editorDialect } from '../dialect.ts';
import { convertClientEntry } from '../convert-client-entry.ts';
import { parseClientJson, listServerEntries } from '../client-json.ts';
import { homePath, projectFile, userFile } from '../client-paths.ts';
import type { ImportSource } from '../import-source.ts';

export const cursor: ImportSource = {
  id: 'cursor',
  title: 'Cursor',
  files: (environment) => [
    userFile(homePath(environment, '.cursor', 'mcp.json')),
    projectFile(environment, '.cursor', 'mcp.json'),
  ],
  read: (text, context) =>
    listServerEntries(parseClientJson(text), 'mcpServers').map(([name, raw]) =>
      convertClientEntry(name, raw, {
        context,
        dialect: editorDialect(context),
        folder: context.scope === 'project' ? context.environment.cwd : undefined,
      }),
    ),
};
