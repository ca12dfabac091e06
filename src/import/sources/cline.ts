import { editorLike } from '../dialect.ts';
import { foreignEntry } from '../foreign-entry.ts';
import { foreignJson, namedServers } from '../foreign-text.ts';
import { atHome, inAppData, ofUser } from '../paths.ts';
import type { Source } from '../source.ts';

const FILE = 'cline_mcp_settings.json';
const STORAGE = ['globalStorage', 'saoudrizwan.claude-dev', 'settings', FILE] as const;

/** An extension of editors, and a program for the terminal. */
export const cline: Source = {
  id: 'cline',
  title: 'Cline',
  files: (places) => [
    ...['Code', 'Code - Insiders', 'Cursor', 'Windsurf', 'VSCodium'].map((editor) =>
      ofUser(inAppData(places, editor, 'User', ...STORAGE)),
    ),
    ofUser(atHome(places, '.cline', 'data', 'settings', FILE)),
  ],
  read: (text, reading) =>
    namedServers(foreignJson(text), 'mcpServers').map(([name, raw]) =>
      foreignEntry(name, raw, { reading, dialect: editorLike(reading), timeout: 's' }),
    ),
};
