import type { CatalogView } from '../../gateway/catalog-view.ts';
import { findSimilar } from '../../core/lib/find-similar.ts';
import type { ToolEntry } from '../../core/entry.ts';
import { formatSuggestions } from '../meta-arguments.ts';

/** Finds the tools of one view by the names that scripts use: server and original tool name, or the exposed name. */
export interface ToolNameIndex {
  /** JSON of the original tool names by server. */
  readonly json: string;
  find(server: string | undefined, tool: string): ToolEntry | undefined;
  /** Returns the error message for a name that does not exist, with similar names. */
  describeUnknown(server: string | undefined, tool: string): string;
  /** Returns the server with this name if its tools have not been fetched yet. */
  unlisted(server: string | undefined): string | undefined;
}

/** Builds the index. Callers cache it per view, because it reads every tool. */
export function indexToolNames(view: CatalogView): ToolNameIndex {
  const byServer = new Map<string, Map<string, ToolEntry>>();
  for (const { name } of view.servers) byServer.set(name, new Map());
  const exposed = new Map<string, ToolEntry>();
  for (const entry of view.tools) {
    exposed.set(entry.name, entry);
    byServer.get(entry.upstream)?.set(entry.definition.name, entry);
  }
  const servers = [...byServer.keys()];
  const serverOf = (name: string): string | undefined =>
    byServer.has(name) ? name : findByIdentifier(name, servers);
  return {
    json: JSON.stringify(Object.fromEntries([...byServer].map(([name, tools]) => [name, [...tools.keys()]]))),
    find(server, tool) {
      if (server === undefined) return exposed.get(tool) ?? findEntryByIdentifier(tool, exposed);
      const tools = byServer.get(serverOf(server) ?? '');
      if (tools === undefined) return undefined;
      const exposedEntry = exposed.get(tool);
      const isOfServer = exposedEntry?.upstream === serverOf(server);
      return tools.get(tool) ?? (isOfServer ? exposedEntry : findEntryByIdentifier(tool, tools));
    },
    describeUnknown(server, tool) {
      const shortName = tool.slice(0, 200);
      if (server === undefined) {
        const similar = findSimilar(tool, [...servers.map((name) => `${name}.…`), ...exposed.keys()], 3);
        return `There is no tool or server "${shortName}".${formatSuggestions(similar)}`;
      }
      const matchingServer = serverOf(server);
      if (matchingServer === undefined)
        return `There is no server "${server.slice(0, 200)}".${formatSuggestions(findSimilar(server, servers, 3))}`;
      const similar = findSimilar(tool, byServer.get(matchingServer)?.keys() ?? [], 3);
      return `Server "${matchingServer}" has no tool "${shortName}".${formatSuggestions(similar)}`;
    },
    unlisted(server) {
      const matchingServer = server === undefined ? undefined : serverOf(server);
      return view.servers.find(({ name, facts }) => name === matchingServer && facts === undefined)?.name;
    },
  };
}

/**
 * Finds the name that a script wrote as an identifier, with underscores in place of hyphens, dots and the like. Returns undefined if none
 * or several names match.
 */
function findByIdentifier(name: string, candidates: Iterable<string>): string | undefined {
  const matches = [...candidates].filter((candidate) => toIdentifier(candidate) === name);
  return matches.length === 1 ? matches[0] : undefined;
}

function findEntryByIdentifier(name: string, entries: ReadonlyMap<string, ToolEntry>): ToolEntry | undefined {
  const found = findByIdentifier(name, entries.keys());
  return found === undefined ? undefined : entries.get(found);
}

function toIdentifier(name: string): string {
  return name.replaceAll(/[^\w$]/g, '_');
}
