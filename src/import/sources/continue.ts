import { parse } from 'yaml';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Dialect } from '../dialect.ts';
import { literal, variableName } from '../dialect.ts';
import { foreignEntry, hasText } from '../foreign-entry.ts';
import { foreignJson, namedServers } from '../foreign-text.ts';
import { atHome, ofProject, ofUser } from '../paths.ts';
import type { ReadServer, Reading, Source } from '../source.ts';

/** Its YAML, which has a list, and the JSON that was before, with a list below `experimental`. */
export const continueDev: Source = {
  id: 'continue',
  title: 'Continue',
  files: (places) => [
    ofUser(atHome(places, '.continue', 'config.yaml')),
    ofUser(atHome(places, '.continue', 'config.json')),
    ofProject(places, '.continue', 'mcpServers', 'mcp.json'),
  ],
  read: (text, reading) => {
    const root = reading.path.endsWith('.json') ? foreignJson(text) : fromYaml(text);
    const experimental = isJsonObject(root['experimental']) ? root['experimental'] : {};
    return [
      ...listed(root['mcpServers'], reading),
      ...listed(experimental['modelContextProtocolServers'], reading),
      ...namedServers(root, 'mcpServers').map(([name, raw]) => one(name, raw, reading)),
    ];
  },
};

function fromYaml(text: string): JsonObject {
  // Names that stand for others are few in honest files, and can grow without bound in others.
  const root: unknown = parse(text, { maxAliasCount: 100 });
  return isJsonObject(root) ? root : {};
}

function listed(value: unknown, reading: Reading): readonly ReadServer[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject).map((raw, at) => {
    const inner = isJsonObject(raw['transport'])
      ? { ...raw, transport: undefined, ...raw['transport'] }
      : raw;
    const name = hasText(raw['name']) ? raw['name'] : `continue-${at + 1}`;
    if (raw['uses'] !== undefined && inner['command'] === undefined && inner['url'] === undefined)
      return { name, problem: 'it is a block of the Continue hub', remarks: [] };
    return one(name, inner, reading);
  });
}

function one(name: string, raw: unknown, reading: Reading): ReadServer {
  const folder = reading.scope === 'project' ? reading.places.cwd : undefined;
  return foreignEntry(name, raw, { reading, dialect: secrets, folder });
}

/** `${{ secrets.NAME }}` is the only variable there is. */
const secrets: Dialect = (text) => {
  const names: string[] = [];
  const own = text
    .split(/\$\{\{\s*(?:secrets|inputs)\.([\w.-]+)\s*\}\}/)
    .map((part, at) => {
      if (at % 2 === 0) return literal(part).text;
      const name = variableName(part);
      names.push(name);
      return `\${env:${name}}`;
    })
    .join('');
  return { text: own, ...(names.length > 0 && { remark: `set ${names.join(', ')} in the environment` }) };
};
