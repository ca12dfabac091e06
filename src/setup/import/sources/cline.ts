import { editorDialect } from '../dialect.ts';
import { convertClientEntry } from '../convert-client-entry.ts';
import { parseClientJson, listServerEntries } from '../client-json.ts';
import { homePath, appDataPath, userFile } from '../client-paths.ts';
import type { ImportSource } from '../import-source.ts';

const FILE = 'cline_mcp_settings.json';
const STORAGE = ['globalStorage', 'saoudrizwan.claude-dev', 'settings', FILE] as const;

/** Cline is an editor extension and a terminal program; each has its own file. */
export const cline: ImportSource = {
  id: 'cline',
  title: 'Cline',
  files: (environment) => [
    ...['Code', 'Code - Insiders', 'Cursor', 'Windsurf', 'VSCodium'].map((editor) =>
      userFile(appDataPath(environment, editor, 'User', ...STORAGE)),
    ),
    userFile(homePath(environment, '.cline', 'data', 'settings', FILE)),
  ],
  read: (text, context) =>
    listServerEntries(parseClientJson(text), 'mcpServers').map(([name, raw]) =>
      convertClientEntry(name, raw, { context, dialect: editorDialect(context), timeoutUnit: 's' }),
    ),
};
