import { editorLike } from '../dialect.ts';
import { foreignEntry } from '../foreign-entry.ts';
import { foreignJson, namedServers } from '../foreign-text.ts';
import { atHome, ofProject, ofUser } from '../paths.ts';
import type { Source } from '../source.ts';

export const cursor: Source = {
  id: 'cursor',
  title: 'Cursor',
  files: (places) => [
    ofUser(atHome(places, '.cursor', 'mcp.json')),
    ofProject(places, '.cursor', 'mcp.json'),
  ],
  read: (text, reading) =>
    namedServers(foreignJson(text), 'mcpServers').map(([name, raw]) =>
      foreignEntry(name, raw, {
        reading,
        dialect: editorLike(reading),
        folder: reading.scope === 'project' ? reading.places.cwd : undefined,
      }),
    ),
};
