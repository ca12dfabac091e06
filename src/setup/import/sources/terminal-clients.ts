import { isJsonObject } from '../../../core/json.ts';
import { omitUndefined } from '../../../core/lib/omit-undefined.ts';
import { bracesDialect, commandDialect, literalDialect, shellDialect } from '../dialect.ts';
import { readClaudeCode } from './claude-code.ts';
import { mcpServers, passReferences, plainEntries, shell, typedEntries } from './client-declaration.ts';
import type { ClientDeclaration, ConnectDeclaration, LaunchEntry } from './client-declaration.ts';

/** Programs that run in a terminal, so they have the `PATH` of the user's shell. */
export const terminalClients: readonly ClientDeclaration[] = [
  {
    id: 'claude-code',
    title: 'Claude Code',
    files: ['{CLAUDE_CONFIG_DIR|~}/.claude.json'],
    projectFiles: ['.mcp.json'],
    servers: mcpServers,
    dialect: shell,
    read: readClaudeCode,
    connect: { ...typedEntries, keepLoaded: { alwaysLoad: true } },
  },
  {
    id: 'codex',
    title: 'Codex',
    files: ['{CODEX_HOME|~/.codex}/config.toml'],
    projectFiles: ['.codex/config.toml'],
    syntax: 'toml',
    servers: ['mcp_servers'],
    dialect: () => literalDialect,
    connect: {
      ...plainEntries,
      // Codex waits one second for servers that are not required, and then works without their tools.
      keepLoaded: { required: true, omit_tools_from: ['deferred'] },
      variables: ({ referenced, session }) => ({ env_vars: [...new Set([...referenced, ...session])] }),
    },
  },
  {
    id: 'gemini-cli',
    title: 'Gemini CLI',
    files: ['~/.gemini/settings.json'],
    projectFiles: ['.gemini/settings.json'],
    servers: mcpServers,
    dialect: () => shellDialect({ hasBareNames: true }),
    timeoutUnit: 'ms',
    urlType: 'sse',
    connect: {
      remote: (url) => ({ type: 'http', url }),
      variables: passReferences,
    },
  },
  {
    id: 'copilot-cli',
    title: 'Copilot CLI',
    files: ['{COPILOT_HOME|~/.copilot}/mcp-config.json'],
    projectFiles: ['.github/mcp.json'],
    servers: mcpServers,
    dialect: shell,
    timeoutUnit: 'ms',
    connect: {
      extra: { type: 'local', tools: ['*'] },
      remote: (url) => ({ type: 'http', url, tools: ['*'] }),
      // Copilot CLI shows its model the tools of its last session. If they have changed since, it refuses their first call.
      keepLoaded: { deferTools: 'never', disableToolCache: true },
    },
  },
  {
    id: 'opencode',
    title: 'opencode',
    files: ['{config}/opencode/opencode.jsonc', '{config}/opencode/opencode.json'],
    projectFiles: ['opencode.jsonc', 'opencode.json'],
    servers: ['mcp'],
    dialect: bracesDialect,
    timeoutUnit: 'ms',
    connect: opencodeEntries(),
  },
  {
    id: 'kilo',
    title: 'Kilo CLI',
    files: ['{config}/kilo/kilo.jsonc', '{config}/kilo/kilo.json', '{config}/kilo/opencode.json'],
    projectFiles: ['kilo.jsonc', 'kilo.json'],
    servers: ['mcp'],
    dialect: bracesDialect,
    timeoutUnit: 'ms',
    connect: opencodeEntries(),
  },
  {
    id: 'qwen-code',
    title: 'Qwen Code',
    files: ['~/.qwen/settings.json'],
    projectFiles: ['.qwen/settings.json'],
    servers: mcpServers,
    dialect: () => shellDialect({ hasBareNames: true }),
    timeoutUnit: 'ms',
    urlType: 'sse',
    connect: {
      remote: (url) => ({ httpUrl: url }),
      keepLoaded: { alwaysLoadTools: true },
    },
  },
  {
    id: 'amp',
    title: 'Amp',
    files: ['{config}/amp/settings.json'],
    projectFiles: ['.amp/settings.json'],
    servers: ['amp.mcpServers'],
    dialect: shell,
    connect: plainEntries,
  },
  {
    id: 'auggie',
    title: 'Auggie',
    files: ['~/.augment/settings.json'],
    projectFiles: ['.augment/settings.json', '.augment/settings.local.json'],
    servers: mcpServers,
    dialect: shell,
    connect: typedEntries,
  },
  {
    id: 'droid',
    title: 'Factory Droid',
    files: ['~/.factory/mcp.json'],
    projectFiles: ['.factory/mcp.json'],
    servers: mcpServers,
    dialect: shell,
    connect: typedEntries,
  },
  {
    id: 'qoder',
    title: 'Qoder CLI',
    files: ['~/.qoder/settings.json'],
    projectFiles: ['.qoder/settings.json'],
    servers: mcpServers,
    dialect: shell,
    timeoutUnit: 'ms',
    connect: { remote: (url) => ({ type: 'http', url }), variables: passReferences },
  },
  {
    id: 'kimi-code',
    title: 'Kimi Code',
    files: ['{KIMI_CODE_HOME|~/.kimi-code}/mcp.json', '~/.kimi/mcp.json'],
    projectFiles: ['.kimi-code/mcp.json'],
    servers: mcpServers,
    dialect: shell,
    connect: { extra: { transport: 'stdio' }, remote: (url) => ({ transport: 'http', url }) },
  },
  {
    id: 'crush',
    title: 'Crush',
    files: ['{config}/crush/crush.json'],
    projectFiles: ['.crush.json', 'crush.json'],
    servers: ['mcp'],
    dialect: commandDialect,
    timeoutUnit: 's',
    connect: typedEntries,
  },
  {
    id: 'grok-build',
    title: 'Grok Build',
    files: ['{GROK_HOME|~/.grok}/config.toml'],
    projectFiles: ['.grok/config.toml'],
    syntax: 'toml',
    servers: ['mcp_servers'],
    dialect: shell,
    connect: plainEntries,
  },
  {
    id: 'amazon-q',
    title: 'Amazon Q Developer',
    files: ['~/.aws/amazonq/mcp.json'],
    projectFiles: ['.amazonq/mcp.json'],
    servers: mcpServers,
    dialect: shell,
    timeoutUnit: 'ms',
    connect: { remote: (url) => ({ type: 'http', url }) },
  },
  {
    id: 'rovo-dev',
    title: 'Rovo Dev',
    files: ['~/.rovodev/mcp.json'],
    servers: mcpServers,
    dialect: shell,
    connect: plainEntries,
  },
  {
    id: 'mastra-code',
    title: 'Mastra Code',
    files: ['~/.mastracode/mcp.json'],
    projectFiles: ['.mastracode/mcp.json'],
    servers: mcpServers,
    dialect: shell,
    connect: plainEntries,
  },
  {
    id: 'openclaw',
    title: 'OpenClaw',
    files: ['~/.openclaw/openclaw.json'],
    servers: ['mcp', 'servers'],
    dialect: shell,
    prepare: ({ toolFilter, ...raw }) =>
      isJsonObject(toolFilter)
        ? { ...raw, includeTools: toolFilter['include'], excludeTools: toolFilter['exclude'] }
        : raw,
    connect: {
      remote: (url) => ({ url, transport: 'streamable-http' }),
      // OpenClaw has no default values, and would hand over the text "${NAME}" for an unset variable.
      variables: ({ set, session }) => ({
        env: Object.fromEntries([...set, ...session].map((name) => [name, `\${${name}}`])),
      }),
    },
  },
  {
    id: 'mcporter',
    title: 'mcporter',
    files: ['~/.mcporter/mcporter.json', '~/.mcporter/mcporter.jsonc'],
    projectFiles: ['config/mcporter.json'],
    servers: mcpServers,
    dialect: shell,
    connect: { remote: (url) => ({ baseUrl: url }) },
  },
];

/** Entries of opencode and its forks, in which the command line is one list. */
function opencodeEntries(): ConnectDeclaration {
  return {
    program: ({ command, args, env }: LaunchEntry) =>
      omitUndefined({ type: 'local', command: [command, ...args], environment: env, enabled: true }),
    remote: (url) => ({ type: 'remote', url, enabled: true }),
  };
}
