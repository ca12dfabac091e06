import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import { shellDialect } from '../dialect.ts';
import { convertClientEntry } from '../convert-client-entry.ts';
import { parseClientJson, listServerEntries } from '../client-json.ts';
import { nonEmpty, pathModuleFor, projectFile, userFile } from '../client-paths.ts';
import type { ImportedServer, SourceContext, ImportSource } from '../import-source.ts';

/** The user's file also has the servers of single projects. A project may have a file of its own, too. */
export const claudeCode: ImportSource = {
  id: 'claude-code',
  title: 'Claude Code',
  files: (environment) => {
    const folder = nonEmpty(environment.env['CLAUDE_CONFIG_DIR']) ?? environment.home;
    const file = pathModuleFor(environment).join(folder, '.claude.json');
    return [userFile(file), projectFile(environment, '.mcp.json')];
  },
  read: (text, context) => {
    const root = parseClientJson(text);
    const folder = context.scope === 'project' ? context.environment.cwd : undefined;
    const projects = isJsonObject(root['projects']) ? Object.entries(root['projects']) : [];
    return [
      ...readServers(root, context, folder),
      ...projects.flatMap(([project, value]) =>
        isJsonObject(value)
          ? readServers(value, context, project).map((server) => ({ ...server, project }))
          : [],
      ),
    ];
  },
};

function readServers(
  root: JsonObject,
  context: SourceContext,
  folder: string | undefined,
): readonly ImportedServer[] {
  return listServerEntries(root, 'mcpServers').map(([name, raw]) =>
    convertClientEntry(name, raw, { context, dialect: shellDialect(), timeoutUnit: 'ms', folder }),
  );
}
