import { describe, expect, test } from 'vitest';

import type { JsonObject } from '../../../core/json.ts';
import type { ClientEnvironment, SourceContext } from '../import-source.ts';
import { anyFileSource, importSources } from './sources.ts';

const linux: ClientEnvironment = { platform: 'linux', home: '/home/me', cwd: '/project/app', env: {} };
const mac: ClientEnvironment = { ...linux, platform: 'darwin', home: '/Users/me' };
const windows: ClientEnvironment = {
  platform: 'win32',
  home: String.raw`C:\Users\me`,
  cwd: String.raw`C:\projects\app`,
  env: { APPDATA: String.raw`C:\Users\me\AppData\Roaming` },
};

function source(id: string) {
  const found = importSources.find((candidate) => candidate.id === id);
  if (found === undefined) throw new Error(`There is no source ${id}.`);
  return found;
}

/** Returns the entries by name; an unusable entry is replaced by its problem. */
function read(id: string, text: string, context: Partial<SourceContext> = {}): JsonObject {
  const servers = source(id).read(text, { path: '/f.json', scope: 'user', environment: linux, ...context });
  return Object.fromEntries(servers.map(({ name, entry, problem }) => [name, entry ?? problem]));
}

describe('config file locations', () => {
  const first = (id: string, environment: ClientEnvironment): string | undefined =>
    source(id).files(environment)[0]?.path;

  test.each([
    ['claude-desktop', '/home/me/.config/Claude/claude_desktop_config.json'],
    ['claude-code', '/home/me/.claude.json'],
    ['cursor', '/home/me/.cursor/mcp.json'],
    ['vscode', '/home/me/.config/Code/User/mcp.json'],
    ['windsurf', '/home/me/.codeium/windsurf/mcp_config.json'],
    ['zed', '/home/me/.config/zed/settings.json'],
    ['codex', '/home/me/.codex/config.toml'],
    ['gemini-cli', '/home/me/.gemini/settings.json'],
    [
      'cline',
      '/home/me/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    ],
    ['continue', '/home/me/.continue/config.yaml'],
    ['mcpzip', '/home/me/.config/compressed-mcp-proxy/config.json'],
    ['mcp', '/home/me/.config/mcp/servers.json'],
    ['mcproxy', '/project/app/mcproxy.json'],
    ['mcpproxy', '/project/app/mcp_config.json'],
    ['1mcp', '/home/me/.config/1mcp/mcp.json'],
  ])('file location: finds the configuration of %s on Linux', (id, path) => {
    expect(first(id, linux)).toBe(path);
  });

  test.each([
    ['claude-desktop', '/Users/me/Library/Application Support/Claude/claude_desktop_config.json'],
    ['vscode', '/Users/me/Library/Application Support/Code/User/mcp.json'],
    ['zed', '/Users/me/.config/zed/settings.json'],
    ['1mcp', '/Users/me/.config/1mcp/mcp.json'],
    ['claude-code', '/Users/me/.claude.json'],
  ])('file location: finds the configuration of %s on macOS', (id, path) => {
    expect(first(id, mac)).toBe(path);
  });

  test.each([
    ['claude-desktop', String.raw`C:\Users\me\AppData\Roaming\Claude\claude_desktop_config.json`],
    ['claude-code', String.raw`C:\Users\me\.claude.json`],
    ['vscode', String.raw`C:\Users\me\AppData\Roaming\Code\User\mcp.json`],
    ['zed', String.raw`C:\Users\me\AppData\Roaming\Zed\settings.json`],
    ['codex', String.raw`C:\Users\me\.codex\config.toml`],
    ['1mcp', String.raw`C:\Users\me\AppData\Roaming\1mcp\mcp.json`],
    ['mcpzip', String.raw`C:\Users\me\.config\compressed-mcp-proxy\config.json`],
  ])('file location: finds the configuration of %s on Windows', (id, path) => {
    expect(first(id, windows)).toBe(path);
  });

  test("file location: respects environment variables that move a client's folder", () => {
    expect(first('codex', { ...linux, env: { CODEX_HOME: '/x' } })).toBe('/x/config.toml');
    expect(first('claude-code', { ...linux, env: { CLAUDE_CONFIG_DIR: '/x' } })).toBe('/x/.claude.json');
    expect(first('mcp', { ...linux, env: { MCP_CONFIG_PATH: '/x/s.json' } })).toBe('/x/s.json');
    expect(first('1mcp', { ...linux, env: { ONE_MCP_CONFIG_DIR: '/x' } })).toBe('/x/mcp.json');
    expect(first('zed', { ...linux, env: { XDG_CONFIG_HOME: '/x' } })).toBe('/x/zed/settings.json');
  });

  test('file location: looks for project files in the current directory', () => {
    const projects = importSources.flatMap((each) =>
      each
        .files(linux)
        .filter(({ scope }) => scope === 'project')
        .map(({ path }) => path),
    );
    expect(projects).toEqual(
      expect.arrayContaining([
        '/project/app/.mcp.json',
        '/project/app/.cursor/mcp.json',
        '/project/app/.vscode/mcp.json',
        '/project/app/.zed/settings.json',
        '/project/app/.codex/config.toml',
        '/project/app/.gemini/settings.json',
      ]),
    );
  });
});

test('Claude Desktop: escapes variables, converts env values to strings and reports broken entries', () => {
  const text = `{
    "globalShortcut": "",
    "mcpServers": {
      "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me"] },
      "odd": { "command": "x", "env": { "A": "\${B}", "PORT": 80, "ON": true, "NO": null } },
      "broken": { "args": [] }
    }
  }`;
  expect(read('claude-desktop', text)).toEqual({
    files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/home/me'] },
    odd: { command: 'x', env: { A: '$${B}', PORT: '80', ON: 'true' } },
    broken: 'it has neither a command nor a URL',
  });
});

describe('Claude Code', () => {
  const text = `{
    "numStartups": 7,
    "mcpServers": {
      "sentry": { "type": "http", "url": "https://mcp.sentry.dev/mcp" },
      "db": { "type": "stdio", "command": "uvx", "args": ["db-mcp", "\${DB_URL:-sqlite:x}"], "env": { "T": "\${TOKEN}" } }
    },
    "projects": { "/project/app": { "mcpServers": { "local": { "command": "./server" } } }, "/other": {} }
  }`;

  test('Claude Code: reads user servers and servers of projects', () => {
    expect(read('claude-code', text)).toEqual({
      sentry: { type: 'http', url: 'https://mcp.sentry.dev/mcp' },
      db: { command: 'uvx', args: ['db-mcp', '${DB_URL:-sqlite:x}'], env: { T: '${TOKEN}' } },
      local: { command: './server', cwd: '/project/app' },
    });
  });

  test('Claude Code: sets the working directory of project servers', () => {
    const project = '{ "mcpServers": { "own": { "command": "node", "args": ["s.js"] } } }';
    expect(read('claude-code', project, { scope: 'project' })).toEqual({
      own: { command: 'node', args: ['s.js'], cwd: '/project/app' },
    });
  });
});

test('Cursor: resolves editor variables, and rejects the workspace folder outside a project', () => {
  const text = `{ "mcpServers": {
    "a": { "command": "\${userHome}/bin/s", "args": ["\${workspaceFolder}"], "env": { "K": "\${env:K}" }, "envFile": ".env" },
    "b": { "url": "https://b.example/mcp", "headers": { "Authorization": "Bearer \${env:B_TOKEN}" } }
  } }`;
  expect(read('cursor', text)).toMatchObject({
    a: '${workspaceFolder} is a different folder in every project',
    b: { url: 'https://b.example/mcp', headers: { Authorization: 'Bearer ${env:B_TOKEN}' } },
  });
  expect(read('cursor', text, { scope: 'project' })['a']).toEqual({
    command: '/home/me/bin/s',
    args: ['/project/app'],
    env: { K: '${env:K}' },
    envFile: '/project/app/.env',
    cwd: '/project/app',
  });
});

test('VS Code: reads servers and inputs from mcp.json and from settings', () => {
  const text = `{
    // asked for once
    "inputs": [{ "type": "promptString", "id": "github-token", "description": "A token of GitHub", "password": true }],
    "servers": {
      "github": { "type": "http", "url": "https://api.githubcopilot.com/mcp/", "headers": { "Authorization": "Bearer \${input:github-token}" } },
      "odd": { "command": "x", "args": ["\${command:pick}"] }
    }
  }`;
  const entries = {
    github: {
      type: 'http',
      url: 'https://api.githubcopilot.com/mcp/',
      headers: { Authorization: 'Bearer ${secret:GITHUB_TOKEN}' },
    },
    odd: '${command:pick} has a meaning in that client only',
  };
  expect(read('vscode', text)).toEqual(entries);
  expect(read('vscode', `{ "editor.fontSize": 12, "mcp": ${text} }`)).toEqual(entries);
  expect(source('vscode').read(text, { path: 'x', scope: 'user', environment: linux })[0]?.remarks).toEqual([
    'it needs a value (A token of GitHub): trunkline secret set GITHUB_TOKEN',
  ]);
});

test('Windsurf: reads serverUrl, disabled servers and disabled tools', () => {
  const text =
    '{ "mcpServers": { "a": { "serverUrl": "https://a.example/sse", "disabled": true, "disabledTools": ["x"] } } }';
  expect(read('windsurf', text)).toEqual({
    a: { url: 'https://a.example/sse', enabled: false, tools: { deny: ['x'] } },
  });
});

test('Zed: reads both entry formats and rejects servers of extensions', () => {
  const text = `{
    "theme": "One Dark",
    "context_servers": {
      "new": { "source": "custom", "command": "npx", "args": ["-y", "s"], "env": {} },
      "old": { "command": { "path": "uvx", "args": ["s"], "env": { "A": "b" } }, "settings": {} },
      "remote": { "url": "https://r.example/mcp", "headers": { "X": "y" } },
      "extension": { "source": "extension", "settings": { "token": "t" } }
    }
  }`;
  expect(read('zed', text)).toEqual({
    new: { command: 'npx', args: ['-y', 's'] },
    old: { command: 'uvx', args: ['s'], env: { A: 'b' } },
    remote: { url: 'https://r.example/mcp', headers: { X: 'y' } },
    extension: 'an extension of Zed starts it',
  });
});

test('Codex: reads servers from TOML', () => {
  const text = `model = "o4"
[mcp_servers.docs]
command = "npx"
args = ["-y", "docs-mcp"]
env_vars = ["HOME_TOKEN"]
tool_timeout_sec = 90
enabled_tools = ["search"]

[mcp_servers.docs.env]
"API_KEY" = "abc"

[mcp_servers."figma.remote"]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "FIGMA_TOKEN"
http_headers = { "X-Region" = "eu" }
env_http_headers = { "X-Key" = "FIGMA_KEY" }
enabled = false
`;
  expect(read('codex', text, { path: '/c.toml' })).toEqual({
    docs: {
      command: 'npx',
      args: ['-y', 'docs-mcp'],
      env: { HOME_TOKEN: '${env:HOME_TOKEN:-}', API_KEY: 'abc' },
      timeouts: { call: '90000ms' },
      tools: { allow: ['search'] },
    },
    'figma.remote': {
      url: 'https://mcp.figma.com/mcp',
      headers: {
        'X-Region': 'eu',
        Authorization: 'Bearer ${env:FIGMA_TOKEN}',
        'X-Key': '${env:FIGMA_KEY}',
      },
      enabled: false,
    },
  });
});

test('Gemini CLI: reads both URL fields, variables and tool lists', () => {
  const text = `{ "mcpServers": {
    "a": { "httpUrl": "https://a.example/mcp", "timeout": 600000, "trust": true, "includeTools": ["x"], "excludeTools": ["y"] },
    "b": { "url": "https://b.example/sse", "headers": { "Authorization": "Bearer $TOKEN" } },
    "c": { "command": "python", "args": ["-m", "\${MODULE}"], "cwd": "./s" }
  } }`;
  expect(read('gemini-cli', text)).toEqual({
    a: {
      type: 'http',
      url: 'https://a.example/mcp',
      timeouts: { call: '600000ms' },
      tools: { allow: ['x'], deny: ['y'] },
    },
    b: { type: 'sse', url: 'https://b.example/sse', headers: { Authorization: 'Bearer ${TOKEN}' } },
    c: { command: 'python', args: ['-m', '${MODULE}'], cwd: './s' },
  });
});

test('Cline: reads timeouts in seconds and its name for Streamable HTTP', () => {
  const text = `{ "mcpServers": {
    "a": { "type": "streamableHttp", "url": "https://a.example/mcp", "timeout": 60, "autoApprove": ["x"], "disabled": false },
    "b": { "command": "node", "args": ["b.js"], "disabled": true }
  } }`;
  expect(read('cline', text)).toEqual({
    a: { type: 'http', url: 'https://a.example/mcp', timeouts: { call: '60000ms' } },
    b: { command: 'node', args: ['b.js'], enabled: false },
  });
});

describe('Continue', () => {
  test('Continue: reads a YAML server list', () => {
    const text = `name: mine
version: 0.0.1
mcpServers:
  - name: Files
    command: npx
    args: ["-y", server-files]
    env:
      API_KEY: \${{ secrets.FILES_KEY }}
  - name: remote
    type: streamable-http
    url: https://r.example/mcp
    requestOptions:
      headers:
        Authorization: Bearer \${{ secrets.R }}
  - uses: anthropic/memory-mcp
`;
    expect(read('continue', text, { path: '/c.yaml' })).toEqual({
      Files: { command: 'npx', args: ['-y', 'server-files'], env: { API_KEY: '${env:FILES_KEY}' } },
      remote: { type: 'http', url: 'https://r.example/mcp', headers: { Authorization: 'Bearer ${env:R}' } },
      'continue-3': 'it is a block of the Continue hub',
    });
  });

  test('Continue: reads the older JSON format', () => {
    const text =
      '{ "experimental": { "modelContextProtocolServers": [{ "transport": { "type": "stdio", "command": "uvx", "args": ["s"] } }] } }';
    expect(read('continue', text)).toEqual({ 'continue-1': { command: 'uvx', args: ['s'] } });
  });
});

test('mcpzip: reads servers and escapes variables', () => {
  const text =
    '{ "mcpServers": { "a": { "type": "http", "url": "https://a.example/mcp", "headers": { "X": "${Y}" } } }, "idle_timeout_minutes": 5 }';
  expect(read('mcpzip', text)).toEqual({
    a: { type: 'http', url: 'https://a.example/mcp', headers: { X: '$${Y}' } },
  });
});

test('mcp: reads optional variables, tool tiers and idle timeouts', () => {
  const text = `{
    // servers.json
    "mcpServers": {
      "a": { "command": "s", "env": { "T": "\${T}" }, "idle_timeout": "30", "tool_acl": { "read": ["get_*"], "write": ["set_*"] } },
      "b": { "url": "https://b.example", "headers": { "Authorization": "Bearer \${B}" }, "idle_timeout": "never" }
    },
    "serverAuth": {}
  }`;
  expect(read('mcp', text)).toEqual({
    a: {
      command: 's',
      env: { T: '${T:-}' },
      idle: '30s',
      tools: { tiers: { 'get_*': 'read', 'set_*': 'write' } },
    },
    b: { url: 'https://b.example', headers: { Authorization: 'Bearer ${B:-}' }, idle: 'never' },
  });
});

test('other gateways: settings that were converted are not reported as left out', () => {
  const context: SourceContext = { path: '/f.json', scope: 'user', environment: linux };
  const entry =
    '"command": "x", "cli": true, "cli_depth": 2, "idle_timeout": "30", "tool_acl": { "read": ["a"] }';
  expect(source('mcp').read(`{ "mcpServers": { "a": { ${entry} } } }`, context)[0]?.remarks).toEqual([]);
  const list =
    '{ "mcpServers": [{ "name": "a", "protocol": "stdio", "command": "x", "quarantined": true }] }';
  expect(source('mcpproxy').read(list, context)[0]?.remarks).toEqual([]);
});

test('mcp: reads programs whose subcommands are tools', () => {
  const text = `{ "mcpServers": {
    "k": { "command": "kubectl", "cli": true },
    "g": { "command": "git", "cli": true, "cli_depth": 2, "cli_only": ["log"], "cli_help": "-h", "tools": [{ "name": "st", "args": ["status"] }] }
  } }`;
  expect(read('mcp', text)).toEqual({
    k: { command: 'kubectl', cli: true },
    g: {
      command: 'git',
      cli: { help: '-h', depth: 2, only: ['log'], tools: [{ name: 'st', args: ['status'] }] },
    },
  });
});

test('MCProxy: reads authorizationToken as a header', () => {
  const text =
    '{ "mcpServers": { "a": { "url": "https://a.example/mcp", "authorizationToken": "Bearer t" }, "b": { "command": "x" } }, "httpServer": { "port": 1 } }';
  expect(read('mcproxy', text)).toEqual({
    a: { url: 'https://a.example/mcp', headers: { Authorization: 'Bearer t' } },
    b: { command: 'x' },
  });
});

test('MCPProxy: reads a server list, keyring references and quarantined servers', () => {
  const text = `{ "listen": ":8080", "mcpServers": [
    { "name": "a", "protocol": "streamable-http", "url": "https://a.example/mcp", "headers": { "K": "\${keyring:a-key}" }, "enabled": true },
    { "name": "b", "protocol": "stdio", "command": "uvx", "args": ["b"], "working_dir": "/b", "env": { "E": "\${env:E}" }, "enabled": false, "quarantined": true, "disabled_tools": ["x"] }
  ] }`;
  expect(read('mcpproxy', text)).toEqual({
    a: { type: 'http', url: 'https://a.example/mcp', headers: { K: '${env:A_KEY}' } },
    b: {
      command: 'uvx',
      args: ['b'],
      env: { E: '${env:E}' },
      cwd: '/b',
      enabled: false,
      tools: { deny: ['x'] },
      trust: 'manual',
    },
  });
});

test('1MCP: reads tags and an env array', () => {
  const text = `{ "mcpServers": {
    "a": { "command": "npx", "args": ["a"], "env": ["A=1", "B=\${B}"], "tags": ["web"], "disabled": true },
    "b": { "type": "streamableHttp", "url": "https://b.example/mcp" }
  } }`;
  expect(read('1mcp', text)).toEqual({
    a: { command: 'npx', args: ['a'], env: { A: '1', B: '${B}' }, enabled: false, tags: ['web'] },
    b: { type: 'http', url: 'https://b.example/mcp' },
  });
});

describe('unknown files', () => {
  const names = (path: string, text: string): readonly string[] =>
    anyFileSource.read(text, { path, scope: 'user', environment: linux }).map(({ name }) => name);

  test.each([
    ['x.json', '{"mcpServers":{"a":{"command":"x"}}}'],
    ['x.json', '{"mcpServers":[{"name":"a","command":"x"}]}'],
    ['x.json', '{"servers":{"a":{"command":"x"}}}'],
    ['x.jsonc', '{"mcp":{"servers":{"a":{"command":"x"}}}}'],
    ['x.json', '{"context_servers":{"a":{"command":"x"}}}'],
    ['x.toml', '[mcp_servers.a]\ncommand = "x"'],
    ['x.yaml', 'mcpServers:\n  - name: a\n    command: x'],
    ['x.json', '{"projects":{"/p":{"mcpServers":{"a":{"command":"x"}}}}}'],
  ])('unknown file: detects the format by content: %s %s', (path, text) => {
    expect(names(path, text)).toEqual(['a']);
  });

  test.each(['{"a":1}', '{"mcpServers": oops}', '[]'])(
    'unknown file: rejects content without servers: %s',
    (text) => {
      expect(() => names('x.json', text)).toThrow(/neither|line 1/);
    },
  );
});

test.each([
  { raw: '"text"', says: 'it is not an object' },
  { raw: '{ "type": "ws", "url": "wss://x" }', says: '"ws" is not a transport that Trunkline supports' },
  { raw: '{ "url": "file:///x" }', says: 'http' },
  { raw: '{ "command": "" }', says: 'it has neither a command nor a URL' },
])('invalid entry: reports the reason for $raw', ({ raw, says }) => {
  expect(read('claude-desktop', `{ "mcpServers": { "a": ${raw} } }`)['a']).toContain(says);
});
