import type { JsonObject } from '../../../core/json.ts';
import { appDataPath, configHomePath, homePath } from '../client-paths.ts';
import { editorDialect, literalDialect } from '../dialect.ts';
import { mcpServers, plainEntries, shell, typedEntries } from './client-declaration.ts';
import type { ClientDeclaration } from './client-declaration.ts';
import { readContinue } from './continue.ts';
import { readVscode } from './vscode.ts';

/** Desktop applications and editor extensions. They often lack the `PATH` of the user's shell. */
export const desktopClients: readonly ClientDeclaration[] = [
  {
    id: 'claude-desktop',
    title: 'Claude Desktop',
    files: ['{appData}/Claude/claude_desktop_config.json'],
    servers: mcpServers,
    dialect: () => literalDialect,
    connect: {},
  },
  {
    id: 'cursor',
    title: 'Cursor',
    files: ['~/.cursor/mcp.json'],
    projectFiles: ['.cursor/mcp.json'],
    servers: mcpServers,
    dialect: editorDialect,
    connect: plainEntries,
  },
  {
    id: 'vscode',
    title: 'VS Code',
    files: [
      '{appData}/Code/User/mcp.json',
      '{appData}/Code/User/settings.json',
      '{appData}/Code - Insiders/User/mcp.json',
    ],
    projectFiles: ['.vscode/mcp.json', '.vscode/settings.json'],
    servers: ['servers'],
    dialect: editorDialect,
    read: readVscode,
    connect: { ...typedEntries, fileName: 'mcp.json' },
  },
  {
    id: 'windsurf',
    title: 'Windsurf',
    files: ['~/.codeium/windsurf/mcp_config.json'],
    servers: mcpServers,
    dialect: editorDialect,
    connect: { remote: (url) => ({ serverUrl: url }) },
  },
  {
    id: 'zed',
    title: 'Zed',
    files: [
      (environment) =>
        environment.platform === 'win32'
          ? appDataPath(environment, 'Zed', 'settings.json')
          : configHomePath(environment, 'zed', 'settings.json'),
    ],
    projectFiles: ['.zed/settings.json'],
    servers: ['context_servers'],
    dialect: () => literalDialect,
    prepare: ({ settings: _, ...raw }) =>
      raw['command'] === undefined && raw['url'] === undefined ? 'an extension of Zed starts it' : raw,
    connect: { ...plainEntries, extra: { source: 'custom' } },
  },
  {
    id: 'cline',
    title: 'Cline',
    files: [
      ...extensionFiles('saoudrizwan.claude-dev', 'cline_mcp_settings.json'),
      '~/.cline/data/settings/cline_mcp_settings.json',
    ],
    servers: mcpServers,
    dialect: editorDialect,
    timeoutUnit: 's',
    connect: {
      remote: (url) => ({ type: 'streamableHttp', url }),
      // Cline waits three seconds for a server whose entry has no timeout. For calls, 60 seconds are its default.
      keepLoaded: { timeout: 60 },
    },
  },
  {
    id: 'continue',
    title: 'Continue',
    files: ['~/.continue/config.yaml', '~/.continue/config.json'],
    projectFiles: ['.continue/mcpServers/mcp.json'],
    syntax: 'yaml',
    servers: mcpServers,
    dialect: () => literalDialect,
    read: readContinue,
    connect: {
      fileName: 'config.yaml',
      isList: true,
      remote: (url) => ({ type: 'streamable-http', url }),
    },
  },
  {
    id: 'junie',
    title: 'Junie',
    files: ['~/.junie/mcp/mcp.json'],
    projectFiles: ['.junie/mcp/mcp.json'],
    servers: mcpServers,
    dialect: shell,
    connect: {},
  },
  {
    id: 'kiro',
    title: 'Kiro',
    files: ['~/.kiro/settings/mcp.json'],
    projectFiles: ['.kiro/settings/mcp.json'],
    servers: mcpServers,
    dialect: shell,
    timeoutUnit: 'ms',
    connect: plainEntries,
  },
  {
    id: 'antigravity',
    title: 'Antigravity',
    files: ['~/.gemini/config/mcp_config.json', '~/.gemini/antigravity/mcp_config.json'],
    projectFiles: ['.agents/mcp_config.json'],
    servers: mcpServers,
    dialect: shell,
    connect: { remote: (url) => ({ serverUrl: url }) },
  },
  {
    id: 'roo-code',
    title: 'Roo Code',
    files: extensionFiles('rooveterinaryinc.roo-cline', 'mcp_settings.json'),
    projectFiles: ['.roo/mcp.json'],
    servers: mcpServers,
    dialect: editorDialect,
    timeoutUnit: 's',
    connect: { remote: (url) => ({ type: 'streamable-http', url }) },
  },
  {
    id: 'kilo-code',
    title: 'Kilo Code',
    files: extensionFiles('kilocode.kilo-code', 'mcp_settings.json'),
    projectFiles: ['.kilocode/mcp.json'],
    servers: mcpServers,
    dialect: editorDialect,
    timeoutUnit: 's',
    connect: { remote: (url) => ({ type: 'streamable-http', url }) },
  },
  {
    id: 'goose',
    title: 'Goose',
    files: [
      (environment) =>
        environment.platform === 'win32'
          ? appDataPath(environment, 'Block', 'goose', 'config', 'config.yaml')
          : configHomePath(environment, 'goose', 'config.yaml'),
    ],
    syntax: 'yaml',
    servers: ['extensions'],
    dialect: () => literalDialect,
    timeoutUnit: 's',
    prepare: prepareGooseEntry,
    connect: {
      program: ({ command, args, env }) => ({
        name: 'trunkline',
        type: 'stdio',
        enabled: true,
        cmd: command,
        args,
        envs: env ?? {},
        timeout: 300,
      }),
      remote: (uri, name) => ({ name, type: 'streamable_http', enabled: true, uri, timeout: 300 }),
    },
  },
  {
    id: 'lm-studio',
    title: 'LM Studio',
    files: ['~/.lmstudio/mcp.json'],
    servers: mcpServers,
    dialect: () => literalDialect,
    timeoutUnit: 'ms',
    connect: plainEntries,
  },
  {
    id: 'visual-studio',
    title: 'Visual Studio',
    files: ['~/.mcp.json'],
    servers: ['servers'],
    dialect: editorDialect,
    read: readVscode,
    connect: typedEntries,
  },
  {
    id: 'copilot-jetbrains',
    title: 'Copilot for JetBrains',
    files: [
      (environment) =>
        environment.platform === 'win32'
          ? homePath(environment, 'AppData', 'Local', 'github-copilot', 'intellij', 'mcp.json')
          : configHomePath(environment, 'github-copilot', 'intellij', 'mcp.json'),
    ],
    servers: ['servers'],
    dialect: editorDialect,
    read: readVscode,
    connect: { remote: (url) => ({ url }) },
  },
  {
    id: 'trae',
    title: 'Trae',
    files: ['{appData}/Trae/User/mcp.json'],
    projectFiles: ['.trae/mcp.json'],
    servers: mcpServers,
    dialect: editorDialect,
    connect: plainEntries,
  },
];

/** Returns the file of an editor extension in each editor that may host it. */
function extensionFiles(extension: string, file: string): readonly string[] {
  return ['Code', 'Code - Insiders', 'Cursor', 'Windsurf', 'VSCodium'].map(
    (name) => `{appData}/${name}/User/globalStorage/${extension}/settings/${file}`,
  );
}

/** Rejects the extensions that are a part of Goose. Removes an empty list of tools, because in Goose it offers all tools. */
function prepareGooseEntry({ available_tools: tools, ...raw }: JsonObject): JsonObject | string {
  const type = raw['type'];
  if (typeof type === 'string' && !/^(?:stdio|sse|streamable_http)$/.test(type))
    return 'it is a part of Goose';
  return Array.isArray(tools) && tools.length > 0 ? { ...raw, available_tools: tools } : raw;
}
