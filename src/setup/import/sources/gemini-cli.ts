import { shellDialect } from '../dialect.ts';
import { convertClientEntry } from '../convert-client-entry.ts';
import { parseClientJson, listServerEntries } from '../client-json.ts';
import { homePath, projectFile, userFile } from '../client-paths.ts';
import type { ImportSource } from '../import-source.ts';

export const geminiCli: ImportSource = {
  id: 'gemini-cli',
  title: 'Gemini CLI',
  files: (environment) => [
    userFile(homePath(environment, '.gemini', 'settings.json')),
    projectFile(environment, '.gemini', 'settings.json'),
  ],
  read: (text, context) =>
    listServerEntries(parseClientJson(text), 'mcpServers').map(([name, raw]) =>
      convertClientEntry(name, raw, {
        context,
        // Gemini CLI also expands `$NAME` without braces.
        dialect: (value) => shellDialect()(value.replaceAll(/\$([A-Za-z_]\w*)/g, '${$1}')),
        timeoutUnit: 'ms',
        urlType: 'sse',
        folder: context.scope === 'project' ? context.environment.cwd : undefined,
      }),
    ),
};
