import { isJsonObject } from '../../model/json.ts';
import { literal } from '../dialect.ts';
import { foreignEntry } from '../foreign-entry.ts';
import { foreignJson, namedServers } from '../foreign-text.ts';
import { inAppData, inConfig, ofProject, ofUser } from '../paths.ts';
import type { Source } from '../source.ts';

export const zed: Source = {
  id: 'zed',
  title: 'Zed',
  files: (places) => [
    ofUser(
      places.platform === 'win32'
        ? inAppData(places, 'Zed', 'settings.json')
        : inConfig(places, 'zed', 'settings.json'),
    ),
    ofProject(places, '.zed', 'settings.json'),
  ],
  read: (text, reading) =>
    namedServers(foreignJson(text), 'context_servers').map(([name, raw]) => {
      const isExtension = isJsonObject(raw) && raw['command'] === undefined && raw['url'] === undefined;
      if (isExtension) return { name, problem: 'an extension of Zed starts it', remarks: [] };
      const folder = reading.scope === 'project' ? reading.places.cwd : undefined;
      return foreignEntry(name, raw, { reading, dialect: literal, folder });
    }),
};
