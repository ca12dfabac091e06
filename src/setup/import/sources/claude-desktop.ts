import { literalDialect } from '../dialect.ts';
import { convertClientEntry } from '../convert-client-entry.ts';
import { parseClientJson, listServerEntries } from '../client-json.ts';
import { appDataPath, userFile } from '../client-paths.ts';
import type { ImportSource } from '../import-source.ts';

export const claudeDesktop: ImportSource = {
  id: 'claude-desktop',
  title: 'Claude Desktop',
  files: (environment) => [userFile(appDataPath(environment, 'Claude', 'claude_desktop_config.json'))],
  read: (text, context) =>
    listServerEntries(parseClientJson(text), 'mcpServers').map(([name, raw]) =>
      convertClientEntry(name, raw, { context, dialect: literalDialect }),
    ),
};
