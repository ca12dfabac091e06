import type { View } from '../../gateway/view.ts';
import { nearest } from '../../lib/nearest.ts';
import type { ToolEntry } from '../../model/entry.ts';
import { didYouMean } from '../meta-arguments.ts';

/** How scripts name the tools of one view: by server and the server's own name, or by the exposed name. */
export interface ToolNames {
  /** JSON of the tools' own names by server. */
  readonly json: string;
  find(server: string | undefined, tool: string): ToolEntry | undefined;
  /** What to tell whoever used a name that does not exist. */
  unknown(server: string | undefined, tool: string): string;
  /** The server that is meant, unless it has been listed. */
  unlisted(server: string | undefined): string | undefined;
}

/** Made once for a view, since it looks at every tool. */
export function toolNames(view: View): ToolNames {
  const byServer = new Map<string, Map<string, ToolEntry>>();
  for (const { name } of view.servers) byServer.set(name, new Map());
  const exposed = new Map<string, ToolEntry>();
  for (const entry of view.tools) {
    exposed.set(entry.name, entry);
    byServer.get(entry.upstream)?.set(entry.definition.name, entry);
  }
  const servers = [...byServer.keys()];
  const serverOf = (name: string): string | undefined => (byServer.has(name) ? name : alike(name, servers));
  return {
    json: JSON.stringify(Object.fromEntries([...byServer].map(([name, tools]) => [name, [...tools.keys()]]))),
    find(server, tool) {
      if (server === undefined) return exposed.get(tool) ?? entryAlike(tool, exposed);
      const tools = byServer.get(serverOf(server) ?? '');
      if (tools === undefined) return undefined;
      const shown = exposed.get(tool);
      return tools.get(tool) ?? (shown?.upstream === serverOf(server) ? shown : entryAlike(tool, tools));
    },
    unknown(server, tool) {
      const shown = tool.slice(0, 200);
      if (server === undefined) {
        const near = nearest(tool, [...servers.map((name) => `${name}.…`), ...exposed.keys()], 3);
        return `There is no tool or server "${shown}".${didYouMean(near)}`;
      }
      const own = serverOf(server);
      if (own === undefined)
        return `There is no server "${server.slice(0, 200)}".${didYouMean(nearest(server, servers, 3))}`;
      const near = nearest(tool, byServer.get(own)?.keys() ?? [], 3);
      return `Server "${own}" has no tool "${shown}".${didYouMean(near)}`;
    },
    unlisted(server) {
      const own = server === undefined ? undefined : serverOf(server);
      return view.servers.find(({ name, facts }) => name === own && facts === undefined)?.name;
    },
  };
}

/** Names with hyphens or dots are no identifiers, so that scripts write underscores; if that can mean only one, it does. */
function alike(name: string, candidates: Iterable<string>): string | undefined {
  const found = [...candidates].filter((each) => identifier(each) === name);
  return found.length === 1 ? found[0] : undefined;
}

function entryAlike(name: string, entries: ReadonlyMap<string, ToolEntry>): ToolEntry | undefined {
  const found = alike(name, entries.keys());
  return found === undefined ? undefined : entries.get(found);
}

function identifier(name: string): string {
  return name.replaceAll(/[^\w$]/g, '_');
}
