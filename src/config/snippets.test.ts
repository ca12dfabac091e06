import { expect, test } from 'vitest';

import type { Fingerprint } from '../core/ids.ts';
import type { ConfigSnapshot } from './config.ts';
import { validateConfig } from './validate-config.ts';

function load(text: string): ConfigSnapshot {
  return validateConfig({ file: '/home/ada/config.jsonc', text, revision: 'revision' as Fingerprint });
}

function transports(text: string): Readonly<Record<string, unknown>> {
  const { value, warnings } = load(text);
  expect(warnings).toEqual([]);
  return Object.fromEntries(value.upstreams.map(({ name, transport }) => [name, transport]));
}

test('client snippet: loads a Claude Desktop config unchanged', () => {
  const loaded = transports(`{
    "mcpServers": {
      "filesystem": {
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/username/Desktop"]
      },
      "brave-search": {
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-brave-search"],
        "env": { "BRAVE_API_KEY": "YOUR_API_KEY_HERE" }
      }
    }
  }`);
  expect(loaded['filesystem']).toEqual({
    kind: 'stdio',
    command: 'npx',
    args: ['-y', '@modelcontextprotocol/server-filesystem', '/Users/username/Desktop'],
    env: {},
  });
  expect(loaded['brave-search']).toMatchObject({ env: { BRAVE_API_KEY: 'YOUR_API_KEY_HERE' } });
});

test('client snippet: loads a Claude Code config unchanged', () => {
  const { value, warnings } = load(`{
    "mcpServers": {
      "api": {
        "type": "http",
        "url": "\${API_BASE_URL:-https://api.example.com}/mcp",
        "headers": { "Authorization": "Bearer \${API_KEY}" },
        "timeout": 600000
      },
      "events": { "type": "sse", "url": "https://mcp.example.com/sse" }
    }
  }`);
  expect(warnings).toEqual([]);
  const [api, events] = value.upstreams;
  expect(api).toMatchObject({ timeouts: { callMs: 600_000 }, transport: { flavour: 'streamable' } });
  expect(events).toMatchObject({ transport: { flavour: 'sse' } });
});

test('client snippet: loads a Cursor config unchanged', () => {
  const loaded = transports(`{
    "mcpServers": {
      "local": {
        "type": "stdio",
        "command": "python",
        "args": ["mcp-server.py"],
        "env": { "API_KEY": "\${env:API_KEY}" },
        "envFile": ".env"
      },
      "remote": {
        "url": "http://localhost:3000/mcp",
        "headers": { "API_KEY": "value" }
      }
    }
  }`);
  expect(loaded['local']).toMatchObject({ envFile: '/home/ada/.env', env: { API_KEY: '${env:API_KEY}' } });
  expect(loaded['remote']).toMatchObject({ flavour: 'auto', headers: { API_KEY: 'value' } });
});

test('client snippet: loads VS Code server entries unchanged', () => {
  const loaded = transports(`{
    "mcpServers": {
      "memory": {
        "type": "stdio",
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-memory"],
        "cwd": "/srv/memory",
        "envFile": "\${HOME}/.env"
      },
      "github": { "type": "http", "url": "https://api.githubcopilot.com/mcp" }
    }
  }`);
  expect(loaded['memory']).toMatchObject({ cwd: '/srv/memory', envFile: '${HOME}/.env' });
  expect(loaded['github']).toMatchObject({ flavour: 'streamable' });
});

test('client snippet: reports a VS Code input reference with its position', () => {
  const { warnings } = load('{ "mcpServers": { "a": { "command": "x", "env": { "K": "${input:key}" } } } }');
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatchObject({ path: 'mcpServers.a.env.K', line: 1, column: 56 });
});

test('client snippet: loads a Windsurf config unchanged', () => {
  const loaded = transports(`{
    "mcpServers": {
      "github": {
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-github"],
        "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "<TOKEN>" },
        "disabled": false
      },
      "remote": {
        "serverUrl": "https://mcp.example.com/mcp",
        "headers": { "Authorization": "Bearer \${env:AUTH_TOKEN}" }
      }
    }
  }`);
  expect(loaded['github']).toMatchObject({ kind: 'stdio', command: 'npx' });
  expect(loaded['remote']).toMatchObject({
    kind: 'http',
    url: 'https://mcp.example.com/mcp',
    flavour: 'auto',
  });
});

test('client snippet: loads a Cline config unchanged', () => {
  const { value, warnings, disabled } = load(`{
    "mcpServers": {
      "local-server": {
        "command": "node",
        "args": ["/path/to/server.js"],
        "env": { "API_KEY": "your_api_key" },
        "alwaysAllow": ["tool1", "tool2"],
        "disabled": false
      },
      "remote-server": {
        "type": "streamableHttp",
        "url": "https://your-server-url.com/mcp",
        "headers": { "Authorization": "Bearer your-token" },
        "autoApprove": ["tool3"],
        "disabled": true
      }
    }
  }`);
  expect(warnings).toEqual([]);
  expect(value.upstreams.map(({ name }) => name)).toEqual(['local-server']);
  expect(disabled).toEqual(['remote-server']);
});

test('client snippet: reports a Cline timeout in seconds and uses the default', () => {
  const { value, warnings } = load('{ "mcpServers": { "a": { "command": "x", "timeout": 60 } } }');
  expect(value.upstreams[0]).toMatchObject({ timeouts: { callMs: 120_000 } });
  expect(warnings).toHaveLength(1);
});
