import { shellLike } from '../dialect.ts';
import { foreignEntry } from '../foreign-entry.ts';
import { foreignJson, namedServers } from '../foreign-text.ts';
import { atHome, ofProject, ofUser } from '../paths.ts';
import type { Source } from '../source.ts';

export const geminiCli: Source = {
  id: 'gemini-cli',
  title: 'Gemini CLI',
  files: (places) => [
    ofUser(atHome(places, '.gemini', 'settings.json')),
    ofProject(places, '.gemini', 'settings.json'),
  ],
  read: (text, reading) =>
    namedServers(foreignJson(text), 'mcpServers').map(([name, raw]) =>
      foreignEntry(name, raw, {
        reading,
        // It also knows `$NAME` without braces.
        dialect: (value) => shellLike()(value.replaceAll(/\$([A-Za-z_]\w*)/g, '${$1}')),
        timeout: 'ms',
        urlType: 'sse',
        folder: reading.scope === 'project' ? reading.places.cwd : undefined,
      }),
    ),
};
