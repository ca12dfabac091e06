import { isJsonObject } from '../../model/json.ts';
import { shellLike } from '../dialect.ts';
import { foreignEntry } from '../foreign-entry.ts';
import { foreignJson, namedServers } from '../foreign-text.ts';
import { atHome, ofProject, ofUser, pathsOf, set } from '../paths.ts';
import type { ReadServer, Reading, Source } from '../source.ts';

/** The user's file also has what was added for single projects; a project may have a file of its own. */
export const claudeCode: Source = {
  id: 'claude-code',
  title: 'Claude Code',
  files: (places) => {
    const moved = set(places.env['CLAUDE_CONFIG_DIR']);
    const own =
      moved === undefined ? atHome(places, '.claude.json') : pathsOf(places).join(moved, '.claude.json');
    return [ofUser(own), ofProject(places, '.mcp.json')];
  },
  read: (text, reading) => {
    const root = foreignJson(text);
    const folder = reading.scope === 'project' ? reading.places.cwd : undefined;
    const own = servers(root, reading, folder);
    const projects = isJsonObject(root['projects']) ? Object.entries(root['projects']) : [];
    return [
      ...own,
      ...projects.flatMap(([project, value]) =>
        isJsonObject(value) ? servers(value, reading, project).map((server) => ({ ...server, project })) : [],
      ),
    ];
  },
};

function servers(
  root: Record<string, unknown>,
  reading: Reading,
  folder: string | undefined,
): readonly ReadServer[] {
  return namedServers(root, 'mcpServers').map(([name, raw]) =>
    foreignEntry(name, raw, { reading, dialect: shellLike(), timeout: 'ms', folder }),
  );
}
