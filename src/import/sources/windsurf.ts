import { editorLike } from '../dialect.ts';
import { foreignEntry } from '../foreign-entry.ts';
import { foreignJson, namedServers } from '../foreign-text.ts';
import { atHome, ofUser } from '../paths.ts';
import type { Source } from '../source.ts';

export const windsurf: Source = {
  id: 'windsurf',
  title: 'Windsurf',
  files: (places) => [ofUser(atHome(places, '.codeium', 'windsurf', 'mcp_config.json'))],
  read: (text, reading) =>
    namedServers(foreignJson(text), 'mcpServers').map(([name, raw]) =>
      foreignEntry(name, raw, { reading, dialect: editorLike(reading) }),
    ),
};
