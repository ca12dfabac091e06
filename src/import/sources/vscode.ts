import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import { editorLike } from '../dialect.ts';
import { foreignEntry, hasText } from '../foreign-entry.ts';
import { foreignJson, namedServers } from '../foreign-text.ts';
import { inAppData, ofProject, ofUser } from '../paths.ts';
import type { Source } from '../source.ts';

/** Its `mcp.json`, and the key `mcp` of the settings in which servers were before. */
export const vscode: Source = {
  id: 'vscode',
  title: 'VS Code',
  files: (places) => [
    ofUser(inAppData(places, 'Code', 'User', 'mcp.json')),
    ofUser(inAppData(places, 'Code', 'User', 'settings.json')),
    ofUser(inAppData(places, 'Code - Insiders', 'User', 'mcp.json')),
    ofProject(places, '.vscode', 'mcp.json'),
    ofProject(places, '.vscode', 'settings.json'),
  ],
  read: (text, reading) => {
    const root = foreignJson(text);
    const inner = isJsonObject(root['mcp']) ? root['mcp'] : {};
    return [root, inner].flatMap((part) => {
      const dialect = editorLike(reading, inputsOf(part));
      const folder = reading.scope === 'project' ? reading.places.cwd : undefined;
      return namedServers(part, 'servers').map(([name, raw]) =>
        foreignEntry(name, raw, { reading, dialect, folder }),
      );
    });
  },
};

/** What the editor asks the person for, by id. */
function inputsOf({ inputs }: JsonObject): ReadonlyMap<string, string> {
  const all = Array.isArray(inputs) ? inputs.filter(isJsonObject) : [];
  return new Map(
    all.flatMap(({ id, description }) =>
      hasText(id) ? [[id, hasText(description) ? description.slice(0, 200) : id] as const] : [],
    ),
  );
}
