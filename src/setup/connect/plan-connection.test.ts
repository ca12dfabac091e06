import { describe, expect, test } from 'vitest';

import { planImport } from '../import/plan-import.ts';
import type { ClientEnvironment } from '../import/import-source.ts';
import { connectableClients } from './connectable-clients.ts';
import { buildProgramEntry } from './client-entries.ts';
import { planConnection, planMergedUndo } from './plan-connection.ts';

const environment: ClientEnvironment = { platform: 'linux', home: '/h', cwd: '/w', env: {} };
const start = { command: 'trunkline', args: ['serve'] };

function client(id: string) {
  const found = connectableClients.find(({ source }) => source.id === id);
  if (found === undefined) throw new Error(`There is no client ${id}.`);
  return found;
}

function connected(
  id: string,
  text: string,
  ours: Readonly<Record<string, unknown>> = {},
  variables: readonly string[] = [],
) {
  const { source, files } = client(id);
  const [path = ''] = files(environment);
  const servers = source.read(text, { path, scope: 'user', environment });
  const steps = planImport([{ source, path, scope: 'user', servers }], {
    servers: new Map(Object.entries(ours)),
    identity: { files: [], addresses: ['127.0.0.1:7332'] },
    onConflict: 'keep',
    configFile: '/c',
  });
  return planConnection(client(id), text, {
    steps,
    wanted: buildProgramEntry(client(id), start, { referenced: variables, set: [], session: [] }),
  });
}

describe('JSON clients', () => {
  const text = `{
  // my servers
  "mcpServers": {
    "a": { "command": "x" }, // first
    "b": { "url": "https://b.example/mcp" }
  },
  "other": [1,2,   3] // as I like it
}
`;

  test('connect (JSON): moves servers into Trunkline and leaves everything else unchanged', () => {
    const { text: after, moved } = connected('cursor', text);
    expect(moved).toEqual(['a', 'b']);
    expect(after).toBe(`{
  // my servers
  "mcpServers": {
    // first
    "trunkline": {
      "command": "trunkline",
      "args": ["serve"]
    }
  },
  "other": [1,2,   3] // as I like it
}
`);
    expect(connected('cursor', after, { a: { command: 'x' } }).text).toBe(after);
  });

  test('connect (JSON): keeps servers that cannot be moved', () => {
    const {
      text: after,
      moved,
      unmoved: staying,
    } = connected(
      'zed',
      '{"context_servers":{"e":{"settings":{}},"c":{"command":"c"},"d":{"command":"d"}}}',
      {
        c: { command: 'another' },
      },
    );
    expect(moved).toEqual(['d']);
    expect(staying.map(({ name }) => name)).toEqual(['e', 'c']);
    expect(JSON.parse(after)).toEqual({
      context_servers: {
        e: { settings: {} },
        c: { command: 'c' },
        trunkline: { source: 'custom', ...start },
      },
    });
  });

  test.each(['', '{}', '{ }\n', '{\n  "theme": "dark"\n}\n'])(
    'connect (JSON): adds Trunkline to a file without servers: %j',
    (before) => {
      const { text: after } = connected('claude-desktop', before);
      expect(JSON.parse(after)).toEqual({
        ...(before.trim() === '' ? {} : (JSON.parse(before) as object)),
        mcpServers: { trunkline: start },
      });
    },
  );

  test('connect (JSON): leaves an existing Trunkline entry unchanged', () => {
    const own = '{"mcpServers":{"gateway":{"command":"npx","args":["trunkline","serve"]}}}';
    expect(connected('cursor', own).text).toBe(own);
    const { text: after } = connected(
      'cursor',
      '{"mcpServers":{"g":{"url":"http://localhost:7332/mcp"},"a":{"command":"x"}}}',
    );
    expect(JSON.parse(after)).toEqual({ mcpServers: { g: { url: 'http://localhost:7332/mcp' } } });
  });

  test('connect (JSON): rejects a server list that is not an object', () => {
    expect(() => connected('cursor', '{"mcpServers":[]}')).toThrow('"mcpServers" is not an object');
  });

  test('disconnect (JSON): restores the servers in a text that has changed since', () => {
    const { text: after } = connected('cursor', text);
    const now = after.replace('[1,2,   3]', '[4]');
    const back = planMergedUndo(client('cursor'), { before: text, now });
    expect(back).toContain('"other": [4] // as I like it');
    expect(client('cursor').format.readServers(back)).toEqual(client('cursor').format.readServers(text));
  });
});

describe('TOML clients', () => {
  const text = `model = "o4"   # the model

[mcp_servers.docs]
command = "npx"
args = [
  "-y",
  "docs-mcp",
]

[mcp_servers.docs.env]
KEY = "v"

# about profiles
[profiles.fast]
model = "mini"

[mcp_servers."x.y"]
url = "https://x.example/mcp"
`;

  test('connect (TOML): moves server tables into Trunkline and leaves everything else unchanged', () => {
    const { text: after, moved } = connected('codex', text);
    expect(moved).toEqual(['docs', 'x.y']);
    expect(after).toBe(`model = "o4"   # the model

# about profiles
[profiles.fast]
model = "mini"

[mcp_servers.trunkline]
command = "trunkline"
args = [ "serve" ]
required = true
omit_tools_from = [ "deferred" ]
`);
    expect(connected('codex', after).text).toBe(after);
  });

  test('connect (TOML): adds a table to an empty file', () => {
    expect(connected('codex', '').text).toBe(
      '[mcp_servers.trunkline]\ncommand = "trunkline"\nargs = [ "serve" ]\nrequired = true\nomit_tools_from = [ "deferred" ]\n',
    );
  });

  test('disconnect (TOML): restores the server tables', () => {
    const back = planMergedUndo(client('codex'), { before: text, now: connected('codex', text).text });
    expect(client('codex').format.readServers(back)).toEqual(client('codex').format.readServers(text));
  });

  test.each([
    'mcp_servers = { a = { command = "x" } }\n',
    'mcp_servers.a.command = "x"\n',
    '[mcp_servers]\na = { command = "x" }\n',
  ])('connect (TOML): rejects servers that are not written as tables: %j', (odd) => {
    expect(() => connected('codex', odd)).toThrow();
  });
});

describe('YAML clients', () => {
  const text = `name: mine # of me
version: 0.0.1
mcpServers:
  # files
  - name: files
    command: npx
    args:
      - -y
      - server-files
  - name: remote
    type: streamable-http
    url: https://r.example/mcp
models:
  - name:   gpt   # odd blanks
`;

  test('connect (YAML): moves server items into Trunkline and leaves everything else unchanged', () => {
    const { text: after, moved } = connected('continue', text);
    expect(moved).toEqual(['files', 'remote']);
    expect(after).toContain('name: mine # of me\nversion: 0.0.1\nmcpServers:\n');
    expect(after).toContain('\nmodels:\n  - name:   gpt   # odd blanks\n');
    expect([...client('continue').format.readServers(after)]).toEqual([
      ['trunkline', { name: 'trunkline', ...start }],
    ]);
    expect(connected('continue', after).text).toBe(after);
  });

  test.each(['', 'name: x\n', 'mcpServers: []\nname: x\n', 'mcpServers:\nname: x\n'])(
    'connect (YAML): adds Trunkline to a file without servers: %j',
    (before) => {
      const { text: after } = connected('continue', before);
      expect([...client('continue').format.readServers(after).keys()]).toEqual(['trunkline']);
    },
  );

  test('connect (YAML): rejects a list in flow style', () => {
    expect(() => connected('continue', 'mcpServers: [{ name: a, command: x }]\n')).toThrow(
      'cannot be edited safely',
    );
  });

  test('disconnect (YAML): restores the server items', () => {
    const back = planMergedUndo(client('continue'), { before: text, now: connected('continue', text).text });
    expect(client('continue').format.readServers(back)).toEqual(client('continue').format.readServers(text));
  });
});

test.each([
  ['claude-desktop', '/h/.config/Claude/claude_desktop_config.json'],
  ['vscode', '/h/.config/Code/User/mcp.json'],
  ['continue', '/h/.continue/config.yaml'],
  ['codex', '/h/.codex/config.toml'],
])('client file: for %s is %s', (id, path) => {
  expect(client(id).files(environment)[0]).toBe(path);
});
