import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import { omitUndefined } from '../../../core/lib/omit-undefined.ts';
import { listServerEntries, parseClientJson } from '../client-json.ts';
import { appDataPath, homePath, nonEmpty, pathModuleFor, projectFile, userFile } from '../client-paths.ts';
import { convertClientEntry } from '../convert-client-entry.ts';
import { isNonEmptyString, toStrings } from '../entry-reader.ts';
import { literalDialect, replaceVariables, shellDialect, toVariableName } from '../dialect.ts';
import type { Dialect } from '../dialect.ts';
import type { ImportedServer, ImportSource } from '../import-source.ts';

export const mcpzip: ImportSource = {
  id: 'mcpzip',
  title: 'mcpzip',
  // The path is the same on every platform.
  files: (environment) => [userFile(homePath(environment, '.config', 'compressed-mcp-proxy', 'config.json'))],
  read: (text, context) =>
    listServerEntries(parseClientJson(text), 'mcpServers').map(([name, raw]) =>
      convertClientEntry(name, raw, { context, dialect: literalDialect }),
    ),
};

/** The command-line tool `mcp`, which also wraps programs (`cli`) and classifies tools (`tool_acl`). */
export const mcp: ImportSource = {
  id: 'mcp',
  title: 'mcp',
  files: (environment) => {
    const { env } = environment;
    const folder = nonEmpty(env['MCP_CONFIG_DIR']) ?? homePath(environment, '.config', 'mcp');
    const file = nonEmpty(env['MCP_CONFIG_PATH']) ?? pathModuleFor(environment).join(folder, 'servers.json');
    return [userFile(file)];
  },
  read: (text, context) =>
    listServerEntries(parseClientJson(text), 'mcpServers').map(([name, raw]): ImportedServer => {
      if (!isJsonObject(raw)) return { name, problem: 'it is not an object', remarks: [] };
      const { tools: _, ...entry } = raw;
      return convertClientEntry(name, entry, {
        context,
        dialect: shellDialect({ unset: 'empty' }),
        convertedKeys: ['cli', 'cli_help', 'cli_depth', 'cli_only', 'tool_acl', 'idle_timeout'],
        extra: { ...convertCli(raw), ...convertTiers(raw['tool_acl']), ...convertIdle(raw['idle_timeout']) },
      });
    }),
};

function convertCli(raw: JsonObject): JsonObject {
  if (raw['cli'] !== true) return {};
  const only = toStrings(raw['cli_only']);
  const tools = (Array.isArray(raw['tools']) ? raw['tools'] : []).filter(isJsonObject).map(convertPreset);
  const settings = omitUndefined({
    help: isNonEmptyString(raw['cli_help']) ? raw['cli_help'] : undefined,
    depth: typeof raw['cli_depth'] === 'number' ? Math.min(6, Math.max(1, raw['cli_depth'])) : undefined,
    only: only.length > 0 ? only : undefined,
    tools: tools.length > 0 ? tools : undefined,
  });
  return { cli: Object.keys(settings).length === 0 ? true : settings };
}

/** Converts only the fixed arguments, since the schema of `mcp` does not say how parameters are passed. */
function convertPreset({ name, description, args }: JsonObject): JsonObject {
  const fixed = toStrings(args);
  return omitUndefined({
    name,
    description: isNonEmptyString(description) ? description : undefined,
    args: fixed.length > 0 ? fixed : undefined,
  });
}

function convertTiers(acl: unknown): JsonObject {
  if (!isJsonObject(acl)) return {};
  const tiers = (['read', 'write'] as const).flatMap((tier) =>
    toStrings(acl[tier]).map((glob) => [glob, tier] as const),
  );
  return tiers.length === 0 ? {} : { tools: { tiers: Object.fromEntries(tiers) } };
}

function convertIdle(idle: unknown): JsonObject {
  if (!isNonEmptyString(idle) || idle === 'adaptive') return {};
  if (idle === 'never') return { idle };
  const [, count, unit = 's'] = /^\s*(\d+)\s*([smh]?)\s*$/.exec(idle) ?? [];
  return count === undefined ? {} : { idle: `${count}${unit === '' ? 's' : unit}` };
}

/** MCProxy has no default file; these are the usual names. */
export const mcproxy: ImportSource = {
  id: 'mcproxy',
  title: 'MCProxy',
  files: (environment) => ['mcproxy.json', 'mcp_servers.json'].map((name) => projectFile(environment, name)),
  read: (text, context) =>
    listServerEntries(parseClientJson(text), 'mcpServers').map(([name, raw]) =>
      convertClientEntry(name, raw, { context, dialect: literalDialect }),
    ),
};

/** MCPProxy has a list of servers. A server that is quarantined there is held for approval here, too. */
export const mcpproxy: ImportSource = {
  id: 'mcpproxy',
  title: 'MCPProxy',
  files: (environment) => [
    projectFile(environment, 'mcp_config.json'),
    userFile(homePath(environment, '.mcpproxy', 'mcp_config.json')),
  ],
  read: (text, context) => {
    const { mcpServers: servers } = parseClientJson(text);
    return (Array.isArray(servers) ? servers : []).map((raw: unknown, at): ImportedServer => {
      const name = isJsonObject(raw) && isNonEmptyString(raw['name']) ? raw['name'] : `mcpproxy-${at + 1}`;
      const isHeld = isJsonObject(raw) && raw['quarantined'] === true;
      const extra = isHeld ? { trust: 'manual' } : undefined;
      return convertClientEntry(name, raw, {
        context,
        dialect: keyringDialect,
        extra,
        convertedKeys: ['quarantined'],
      });
    });
  },
};

const keyringDialect: Dialect = (text) =>
  replaceVariables(text, (body) => {
    const [, kind, rest = ''] = /^(env|keyring):(.+)$/s.exec(body) ?? [];
    if (kind === 'env') return { text: `\${env:${rest}}` };
    if (kind === undefined) return undefined;
    const name = toVariableName(rest);
    return { text: `\${env:${name}}`, remark: `set ${name} in the environment; it was in a keyring` };
  });

export const oneMcp: ImportSource = {
  id: '1mcp',
  title: '1MCP',
  files: (environment) => {
    const defaultFolder =
      environment.platform === 'win32'
        ? appDataPath(environment, '1mcp')
        : homePath(environment, '.config', '1mcp');
    const folder = nonEmpty(environment.env['ONE_MCP_CONFIG_DIR']) ?? defaultFolder;
    return [userFile(pathModuleFor(environment).join(folder, 'mcp.json'))];
  },
  read: (text, context) =>
    listServerEntries(parseClientJson(text), 'mcpServers').map(([name, raw]) =>
      convertClientEntry(name, raw, { context, dialect: shellDialect() }),
    ),
};
