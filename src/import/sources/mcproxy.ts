import { literal } from '../dialect.ts';
import { foreignEntry } from '../foreign-entry.ts';
import { foreignJson, namedServers } from '../foreign-text.ts';
import { ofProject } from '../paths.ts';
import type { Source } from '../source.ts';

/** It has no file of its own: whoever starts it names one. */
export const mcproxy: Source = {
  id: 'mcproxy',
  title: 'MCProxy',
  files: (places) => ['mcproxy.json', 'mcp_servers.json'].map((name) => ofProject(places, name)),
  read: (text, reading) =>
    namedServers(foreignJson(text), 'mcpServers').map(([name, raw]) =>
      foreignEntry(name, raw, { reading, dialect: literal }),
    ),
};
