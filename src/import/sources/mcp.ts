import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import { shellLike } from '../dialect.ts';
import { foreignEntry, hasText, strings } from '../foreign-entry.ts';
import { foreignJson, namedServers } from '../foreign-text.ts';
import { atHome, ofUser, pathsOf, set } from '../paths.ts';
import type { ReadServer, Source } from '../source.ts';

/** The command line `mcp`, with programs as servers (`cli`) and classified tools (`tool_acl`). */
export const mcp: Source = {
  id: 'mcp',
  title: 'mcp',
  files: (places) => {
    const { env } = places;
    const file = set(env['MCP_CONFIG_PATH']);
    const folder = set(env['MCP_CONFIG_DIR']) ?? atHome(places, '.config', 'mcp');
    return [ofUser(file ?? pathsOf(places).join(folder, 'servers.json'))];
  },
  read: (text, reading) =>
    namedServers(foreignJson(text), 'mcpServers').map(([name, raw]): ReadServer => {
      if (!isJsonObject(raw)) return { name, problem: 'it is not an object', remarks: [] };
      const { tools: _, ...plain } = raw;
      return foreignEntry(name, plain, {
        reading,
        // What is not set is empty there.
        dialect: shellLike({ unset: 'empty' }),
        more: { ...cliOf(raw), ...tiersOf(raw['tool_acl']), ...idleOf(raw['idle_timeout']) },
      });
    }),
};

function cliOf(raw: JsonObject): JsonObject {
  if (raw['cli'] !== true) return {};
  const only = strings(raw['cli_only']);
  const tools = (Array.isArray(raw['tools']) ? raw['tools'] : []).filter(isJsonObject).map(presetOf);
  const said = {
    ...(hasText(raw['cli_help']) && { help: raw['cli_help'] }),
    ...(typeof raw['cli_depth'] === 'number' && { depth: Math.min(6, Math.max(1, raw['cli_depth'])) }),
    ...(only.length > 0 && { only }),
    ...(tools.length > 0 && { tools }),
  };
  return { cli: Object.keys(said).length === 0 ? true : said };
}

/** Its schema says nothing about where a value goes on the command line, so only what is fixed can be taken over. */
function presetOf({ name, description, args }: JsonObject): JsonObject {
  const fixed = strings(args);
  return { name, ...(hasText(description) && { description }), ...(fixed.length > 0 && { args: fixed }) };
}

function tiersOf(acl: unknown): JsonObject {
  if (!isJsonObject(acl)) return {};
  const tiers = (['read', 'write'] as const).flatMap((tier) =>
    strings(acl[tier]).map((glob) => [glob, tier] as const),
  );
  return tiers.length === 0 ? {} : { tools: { tiers: Object.fromEntries(tiers) } };
}

function idleOf(idle: unknown): JsonObject {
  if (!hasText(idle) || idle === 'adaptive') return {};
  if (idle === 'never') return { idle };
  const [, count, unit = 's'] = /^\s*(\d+)\s*([smh]?)\s*$/.exec(idle) ?? [];
  return count === undefined ? {} : { idle: `${count}${unit === '' ? 's' : unit}` };
}
