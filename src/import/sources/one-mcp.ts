import { shellLike } from '../dialect.ts';
import { foreignEntry } from '../foreign-entry.ts';
import { foreignJson, namedServers } from '../foreign-text.ts';
import { atHome, inAppData, ofUser, pathsOf, set } from '../paths.ts';
import type { Source } from '../source.ts';

export const oneMcp: Source = {
  id: '1mcp',
  title: '1MCP',
  files: (places) => {
    const moved = set(places.env['ONE_MCP_CONFIG_DIR']);
    const folder =
      moved ?? (places.platform === 'win32' ? inAppData(places, '1mcp') : atHome(places, '.config', '1mcp'));
    return [ofUser(pathsOf(places).join(folder, 'mcp.json'))];
  },
  read: (text, reading) =>
    namedServers(foreignJson(text), 'mcpServers').map(([name, raw]) =>
      foreignEntry(name, raw, { reading, dialect: shellLike() }),
    ),
};
