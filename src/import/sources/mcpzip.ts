import { literal } from '../dialect.ts';
import { foreignEntry } from '../foreign-entry.ts';
import { foreignJson, namedServers } from '../foreign-text.ts';
import { atHome, ofUser } from '../paths.ts';
import type { Source } from '../source.ts';

export const mcpzip: Source = {
  id: 'mcpzip',
  title: 'mcpzip',
  // In the same place on every platform.
  files: (places) => [ofUser(atHome(places, '.config', 'compressed-mcp-proxy', 'config.json'))],
  read: (text, reading) =>
    namedServers(foreignJson(text), 'mcpServers').map(([name, raw]) =>
      foreignEntry(name, raw, { reading, dialect: literal }),
    ),
};
