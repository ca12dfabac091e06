import { parse } from 'smol-toml';
import { isJsonObject } from '../../model/json.ts';
import { literal } from '../dialect.ts';
import { foreignEntry } from '../foreign-entry.ts';
import { namedServers } from '../foreign-text.ts';
import { atHome, ofProject, ofUser, pathsOf, set } from '../paths.ts';
import type { Source } from '../source.ts';

export const codex: Source = {
  id: 'codex',
  title: 'Codex',
  files: (places) => {
    const moved = set(places.env['CODEX_HOME']);
    const own =
      moved === undefined
        ? atHome(places, '.codex', 'config.toml')
        : pathsOf(places).join(moved, 'config.toml');
    return [ofUser(own), ofProject(places, '.codex', 'config.toml')];
  },
  read: (text, reading) => {
    const root: unknown = parse(text.replace(/^\uFEFF/, ''));
    if (!isJsonObject(root)) return [];
    const folder = reading.scope === 'project' ? reading.places.cwd : undefined;
    return namedServers(root, 'mcp_servers').map(([name, raw]) =>
      foreignEntry(name, raw, { reading, dialect: literal, folder }),
    );
  },
};
