import { isJsonObject } from '../../../core/json.ts';
import { parseClientJson } from '../client-json.ts';
import { editorDialect, readEditorInputs } from '../dialect.ts';
import type { ImportedServer, SourceContext } from '../import-source.ts';
import { readServers } from './client-source.ts';

/** Reads `servers` in `mcp.json`, and `mcp.servers` in the settings, where older versions store servers. */
export function readVscode(text: string, context: SourceContext): readonly ImportedServer[] {
  const root = parseClientJson(text);
  const inner = isJsonObject(root['mcp']) ? root['mcp'] : {};
  return [root, inner].flatMap((part) => {
    const inputs = readEditorInputs(part['inputs']);
    return readServers(
      { servers: ['servers'], dialect: (origin) => editorDialect(origin, inputs) },
      part,
      context,
    );
  });
}
