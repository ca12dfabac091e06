import { isJsonObject } from '../../../core/json.ts';
import type { Dialect } from '../dialect.ts';
import { literalDialect, toVariableName } from '../dialect.ts';
import { convertClientEntry } from '../convert-client-entry.ts';
import { isNonEmptyString } from '../entry-reader.ts';
import { parseClientJson, parseClientYaml, listServerEntries } from '../client-json.ts';
import type { ImportedServer, SourceContext } from '../import-source.ts';

/** Reads the YAML file, which has a list of servers, and the older JSON file, which has the list below `experimental`. */
export function readContinue(text: string, context: SourceContext): readonly ImportedServer[] {
  const root = context.path.endsWith('.json') ? parseClientJson(text) : parseClientYaml(text);
  const experimental = isJsonObject(root['experimental']) ? root['experimental'] : {};
  return [
    ...readList(root['mcpServers'], context),
    ...readList(experimental['modelContextProtocolServers'], context),
    ...listServerEntries(root, 'mcpServers').map(([name, raw]) => convertEntry(name, raw, context)),
  ];
}

function readList(value: unknown, context: SourceContext): readonly ImportedServer[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject).map((raw, at) => {
    const name = isNonEmptyString(raw['name']) ? raw['name'] : `continue-${at + 1}`;
    if (raw['uses'] !== undefined && raw['command'] === undefined && raw['url'] === undefined) {
      return { name, problem: 'it is a block of the Continue hub', remarks: [] };
    }
    return convertEntry(name, raw, context);
  });
}

function convertEntry(name: string, raw: unknown, context: SourceContext): ImportedServer {
  const folder = context.scope === 'project' ? context.environment.cwd : undefined;
  return convertClientEntry(name, raw, { context, dialect: secretsDialect, folder });
}

/** Translates the variables of Continue: `${{ secrets.NAME }}` and `${{ inputs.NAME }}`. */
const secretsDialect: Dialect = (text) => {
  const names: string[] = [];
  const translated = text
    .split(/\$\{\{\s*(?:secrets|inputs)\.([\w.-]+)\s*\}\}/)
    .map((part, at) => {
      if (at % 2 === 0) return literalDialect(part).text;
      const name = toVariableName(part);
      names.push(name);
      return `\${env:${name}}`;
    })
    .join('');
  const remark = names.length === 0 ? undefined : `set ${names.join(', ')} in the environment`;
  return { text: translated, remark };
};
