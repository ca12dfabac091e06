import { editorDialect } from '../dialect.ts';
import { convertClientEntry } from '../convert-client-entry.ts';
import { parseClientJson, listServerEntries } from '../client-json.ts';
import { homePath, userFile } from '../client-paths.ts';
import type { ImportSource } from '../import-source.ts';

export const windsurf: ImportSource = {
  id: 'windsurf',
  title: 'Windsurf',
  files: (environment) => [userFile(homePath(environment, '.codeium', 'windsurf', 'mcp_config.json'))],
  read: (text, context) =>
    listServerEntries(parseClientJson(text), 'mcpServers').map(([name, raw]) =>
      convertClientEntry(name, raw, { context, dialect: editorDialect(context) }),
    ),
};
