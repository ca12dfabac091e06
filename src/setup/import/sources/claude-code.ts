import { isJsonObject } from '../../../core/json.ts';
import { parseClientJson } from '../client-json.ts';
import { shellDialect } from '../dialect.ts';
import type { ImportedServer, SourceContext } from '../import-source.ts';
import { readServers } from './client-source.ts';

const format = { servers: ['mcpServers'], dialect: () => shellDialect(), timeoutUnit: 'ms' } as const;

/** Reads the user's servers, and those that the user's file has for single projects. */
export function readClaudeCode(text: string, context: SourceContext): readonly ImportedServer[] {
  const root = parseClientJson(text);
  const projects = isJsonObject(root['projects']) ? Object.entries(root['projects']) : [];
  return [
    ...readServers(format, root, context),
    ...projects.flatMap(([project, value]) => {
      if (!isJsonObject(value)) return [];
      // Programs of a project run in its folder.
      const environment = { ...context.environment, cwd: project };
      const servers = readServers(format, value, { ...context, scope: 'project', environment });
      return servers.map((server) => ({ ...server, project }));
    }),
  ];
}
