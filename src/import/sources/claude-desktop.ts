import { literal } from '../dialect.ts';
import { foreignEntry } from '../foreign-entry.ts';
import { foreignJson, namedServers } from '../foreign-text.ts';
import { inAppData, ofUser } from '../paths.ts';
import type { Source } from '../source.ts';

export const claudeDesktop: Source = {
  id: 'claude-desktop',
  title: 'Claude Desktop',
  files: (places) => [ofUser(inAppData(places, 'Claude', 'claude_desktop_config.json'))],
  read: (text, reading) =>
    namedServers(foreignJson(text), 'mcpServers').map(([name, raw]) =>
      foreignEntry(name, raw, { reading, dialect: literal }),
    ),
};
