import { isJsonObject } from '../../../core/json.ts';
import { parseClientJson } from '../client-json.ts';
import type { ImportSource, SourceContext } from '../import-source.ts';
import { clients } from './clients.ts';
import { createClientSource, readServers } from './client-source.ts';
import { shell } from './client-declaration.ts';
import { mcp, mcpproxy, mcproxy, mcpzip, oneMcp } from './other-gateways.ts';

const clientSources = clients.map(createClientSource);

/** All clients and gateways to import from. If several servers have the same name, only the one of the first source is imported. */
export const importSources: readonly ImportSource[] = [
  ...clientSources,
  mcpzip,
  mcp,
  mcproxy,
  mcpproxy,
  oneMcp,
];

/** Reads a text in the format of one client. */
export function readAsClient(
  id: string,
  text: string,
  context: SourceContext,
): ReturnType<ImportSource['read']> {
  return clientSources.find((source) => source.id === id)?.read(text, context) ?? [];
}

/** A file that the user named. Its format is detected from its name and content. */
export const anyFileSource: ImportSource = {
  id: 'file',
  title: 'a file',
  files: () => [],
  read: (text, context) => {
    if (context.path.endsWith('.toml')) return readAsClient('codex', text, context);
    if (/\.ya?ml$/.test(context.path))
      return readAsClient(/^extensions:/m.test(text) ? 'goose' : 'continue', text, context);
    const root = parseClientJson(text);
    if (Array.isArray(root['mcpServers'])) return mcpproxy.read(text, context);
    const format = detectFormat(root);
    if (format !== undefined) return readAsClient(format, text, context);
    if (root['mcpServers'] === undefined) {
      throw new Error('it has neither "mcpServers" nor "servers" nor "context_servers"');
    }
    return readServers({ servers: ['mcpServers'], dialect: shell }, root, context);
  },
};

/** Returns the client whose keys a JSON file has. */
function detectFormat(root: Readonly<Record<string, unknown>>): string | undefined {
  const { mcp: inner } = root;
  if (root['projects'] !== undefined) return 'claude-code';
  if (root['context_servers'] !== undefined) return 'zed';
  if (root['amp.mcpServers'] !== undefined) return 'amp';
  if (root['servers'] !== undefined) return 'vscode';
  if (isJsonObject(inner)) return isJsonObject(inner['servers']) ? 'vscode' : 'opencode';
  return root['experimental'] === undefined ? undefined : 'continue';
}
