import { isJsonObject } from '../../../core/json.ts';
import { editorDialect, readEditorInputs } from '../dialect.ts';
import { convertClientEntry } from '../convert-client-entry.ts';
import { parseClientJson, listServerEntries } from '../client-json.ts';
import { appDataPath, projectFile, userFile } from '../client-paths.ts';
import type { ImportSource } from '../import-source.ts';

/** Reads `mcp.json`, and the key `mcp` in the settings, where older versions store servers. */
export const vscode: ImportSource = {
  id: 'vscode',
  title: 'VS Code',
  files: (environment) => [
    userFile(appDataPath(environment, 'Code', 'User', 'mcp.json')),
    userFile(appDataPath(environment, 'Code', 'User', 'settings.json')),
    userFile(appDataPath(environment, 'Code - Insiders', 'User', 'mcp.json')),
    projectFile(environment, '.vscode', 'mcp.json'),
    projectFile(environment, '.vscode', 'settings.json'),
  ],
  read: (text, context) => {
    const root = parseClientJson(text);
    const inner = isJsonObject(root['mcp']) ? root['mcp'] : {};
    return [root, inner].flatMap((part) => {
      const dialect = editorDialect(context, readEditorInputs(part['inputs']));
      const folder = context.scope === 'project' ? context.environment.cwd : undefined;
      return listServerEntries(part, 'servers').map(([name, raw]) =>
        convertClientEntry(name, raw, { context, dialect, folder }),
      );
    });
  },
};
