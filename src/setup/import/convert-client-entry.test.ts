import { describe, expect, test } from 'vitest';

import { convertClientEntry } from './convert-client-entry.ts';
import { literalDialect } from './dialect.ts';
import type { SourceContext } from './import-source.ts';
import { importSources } from './sources/sources.ts';

const context: SourceContext = {
  path: '/f.json',
  scope: 'user',
  environment: { platform: 'linux', home: '/h', cwd: '/w', env: {} },
};

function convert(raw: object) {
  return convertClientEntry('a', raw, { context, dialect: literalDialect });
}

describe('settings of a client', () => {
  test.each([
    ['startup_timeout_sec', 20, { timeouts: { connect: '20000ms' } }],
    ['startup_timeout_ms', 20_000, { timeouts: { connect: '20000ms' } }],
    ['tool_timeout_sec', 90, { timeouts: { call: '90000ms' } }],
    ['toolTimeoutMs', 90_000, { timeouts: { call: '90000ms' } }],
    ['enabled_tools', ['read'], { tools: { allow: ['read'] } }],
    ['enabled_tools', [], { tools: { allow: [] } }],
    ['disabled_tools', ['erase'], { tools: { deny: ['erase'] } }],
    ['tools', ['read'], { tools: { allow: ['read'] } }],
    ['tools', ['*'], {}],
    ['env_vars', ['A', { name: 'B', source: 'local' }], { env: { A: '${env:A:-}', B: '${env:B:-}' } }],
    ['enabled', false, { enabled: false }],
    ['description', 'Files', { description: 'Files' }],
  ])('import: carries over %s: %j', (key, value, expected) => {
    expect(convert({ command: 'x', [key]: value })).toEqual({
      name: 'a',
      entry: { command: 'x', ...expected },
      remarks: [],
    });
  });

  test.each([
    ['trust', true],
    ['default_tools_approval_mode', 'prompt'],
    ['tools', { erase: { approval_mode: 'prompt' } }],
    ['autoApprove', ['read']],
    ['alwaysAllow', ['read']],
    ['headers', { A: 'b' }],
    ['headersHelper', './print-headers'],
    ['sandboxEnabled', true],
    ['timeout', 5],
    ['somethingNew', { of: 'a client' }],
  ])('import: reports in one sentence that %s was left out', (key, value) => {
    const { entry, remarks } = convert({ command: 'x', [key]: value });
    expect(entry).toEqual({ command: 'x' });
    expect(remarks).toEqual([expect.stringMatching(new RegExp(`^"${key}" was left out: [^\\n]+$`))]);
  });

  test.each([
    ['http_headers_helper', { command: 'x' }],
    ['env', { A: 'b' }],
    ['oauth_resource', 'https://x.example'],
  ])('import: reports that %s of a server at a URL was left out', (key, value) => {
    const { remarks } = convert({ url: 'https://a.example/mcp', [key]: value });
    expect(remarks).toEqual([expect.stringMatching(new RegExp(`^"${key}" was left out: `))]);
  });

  test.each([
    ['alwaysLoad', true],
    ['deferTools', 'never'],
    ['disableToolCache', true],
    ['omit_tools_from', ['deferred']],
    ['alwaysLoadTools', true],
    ['required', true],
    ['supports_parallel_tool_calls', true],
    ['disabled', false],
    ['autoApprove', []],
    ['trust', false],
  ])('import: does not report %s: %j, which means nothing behind Trunkline', (key, value) => {
    expect(convert({ command: 'x', [key]: value })).toEqual({
      name: 'a',
      entry: { command: 'x' },
      remarks: [],
    });
  });

  test('import: carries over no name of a variable that ends its reference and begins a program', () => {
    const name = 'A}${cmd:["touch","pwned"]}${env:B';
    for (const raw of [
      { command: 'x', env_vars: [name] },
      { command: 'x', env_keys: [name] },
      { url: 'https://host/mcp', bearer_token_env_var: name },
      { url: 'https://host/mcp', env_http_headers: { 'X-Key': name } },
    ])
      expect(JSON.stringify(convert(raw).entry)).not.toContain('cmd:');
  });

  test('import: carries over the application that a client signs in with', () => {
    const oauth = { clientId: 'id', clientSecret: 's', scope: 'read write', callbackPort: 7777 };
    const { entry, remarks } = convert({ url: 'https://a.example/mcp', oauth });
    expect(entry).toMatchObject({
      auth: { clientId: 'id', clientSecret: 's', scopes: ['read', 'write'], callbackPort: 7777 },
    });
    expect(remarks).toEqual([expect.stringContaining('trunkline login')]);
  });

  test('import: reports values and members of an unexpected type', () => {
    const { entry, remarks } = convert({ command: 'x', args: 'a b', env: { A: { deep: 1 }, B: 'b' } });
    expect(entry).toEqual({ command: 'x', env: { B: 'b' } });
    expect(remarks).toEqual([
      '"env.A" was left out: its value is not a text',
      expect.stringMatching(/^"args" was left out: /),
    ]);
  });
});

test('import: every client keeps or reports a restriction of tools and an unknown setting', () => {
  const silent = importSources.filter(({ id, read }) => {
    if (['mcpproxy', 'continue', 'mcp'].includes(id)) return false; // They have their own formats, which other tests cover.
    const server = { command: 'x', args: [], includeTools: ['a'], somethingNew: 1 };
    const keys = ['mcpServers', 'servers', 'context_servers', 'mcp', 'amp.mcpServers'];
    const json = JSON.stringify({
      ...Object.fromEntries(keys.map((key) => [key, { a: server }])),
      ...(id === 'openclaw' && { mcp: { servers: { a: server } } }),
    });
    const toml = '[mcp_servers.a]\ncommand = "x"\nincludeTools = ["a"]\nsomethingNew = 1\n';
    const yaml = 'extensions:\n  a:\n    cmd: x\n    includeTools: [a]\n    somethingNew: 1\n';
    const text = ['codex', 'grok-build'].includes(id) ? toml : id === 'goose' ? yaml : json;
    const [found] = read(text, context);
    return found?.entry?.['tools'] === undefined || !found.remarks.some((remark) => remark.includes('New'));
  });
  expect(silent.map(({ id }) => id)).toEqual([]);
});
