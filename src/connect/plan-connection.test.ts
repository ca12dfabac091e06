import { describe, expect, test } from 'vitest';

import { planImport } from '../import/plan.ts';
import type { Places } from '../import/source.ts';
import { clients } from './clients.ts';
import { planConnection, planReturn } from './plan-connection.ts';

const places: Places = { platform: 'linux', home: '/h', cwd: '/w', env: {} };
const start = { command: 'trunkline', args: ['serve'] };

function client(id: string) {
  const found = clients.find(({ source }) => source.id === id);
  if (found === undefined) throw new Error(`There is no client ${id}.`);
  return found;
}

function connected(id: string, text: string, ours: Readonly<Record<string, unknown>> = {}) {
  const { source, files, extra } = client(id);
  const [path = ''] = files(places);
  const servers = source.read(text, { path, scope: 'user', places });
  const steps = planImport([{ source, path, scope: 'user', servers }], {
    servers: new Map(Object.entries(ours)),
    own: { files: [], addresses: ['127.0.0.1:7332'] },
    onConflict: 'keep',
    configFile: '/c',
  });
  return planConnection(client(id), text, { steps, entry: { ...extra, ...start } });
}

describe('JSON', () => {
  const text = `{
  // my servers
  "mcpServers": {
    "a": { "command": "x" }, // first
    "b": { "url": "https://b.example/mcp" }
  },
  "other": [1,2,   3] // as I like it
}
`;

  test('servers move, everything else stays', () => {
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

  test('servers that cannot move stay', () => {
    const {
      text: after,
      moved,
      staying,
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
    'a file without servers gets them: %j',
    (before) => {
      const { text: after } = connected('claude-desktop', before);
      expect(JSON.parse(after)).toEqual({
        ...(before.trim() === '' ? {} : (JSON.parse(before) as object)),
        mcpServers: { trunkline: start },
      });
    },
  );

  test('Trunkline as a person wrote it is left alone', () => {
    const own = '{"mcpServers":{"gateway":{"command":"npx","args":["trunkline","serve"]}}}';
    expect(connected('cursor', own).text).toBe(own);
    const { text: after } = connected(
      'cursor',
      '{"mcpServers":{"g":{"url":"http://localhost:7332/mcp"},"a":{"command":"x"}}}',
    );
    expect(JSON.parse(after)).toEqual({ mcpServers: { g: { url: 'http://localhost:7332/mcp' } } });
  });

  test('what is no object is not edited', () => {
    expect(() => connected('cursor', '{"mcpServers":[]}')).toThrow('"mcpServers" is not an object');
  });

  test('servers come back into a text that has changed since', () => {
    const { text: after } = connected('cursor', text);
    const now = after.replace('[1,2,   3]', '[4]');
    const back = planReturn(client('cursor'), { before: text, now });
    expect(back).toContain('"other": [4] // as I like it');
    expect(client('cursor').format.servers(back)).toEqual(client('cursor').format.servers(text));
  });
});

describe('TOML', () => {
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

  test('tables move, everything else stays', () => {
    const { text: after, moved } = connected('codex', text);
    expect(moved).toEqual(['docs', 'x.y']);
    expect(after).toBe(`model = "o4"   # the model

# about profiles
[profiles.fast]
model = "mini"

[mcp_servers.trunkline]
command = "trunkline"
args = [ "serve" ]
`);
    expect(connected('codex', after).text).toBe(after);
  });

  test('an empty file gets a table', () => {
    expect(connected('codex', '').text).toBe(
      '[mcp_servers.trunkline]\ncommand = "trunkline"\nargs = [ "serve" ]\n',
    );
  });

  test('tables come back', () => {
    const back = planReturn(client('codex'), { before: text, now: connected('codex', text).text });
    expect(client('codex').format.servers(back)).toEqual(client('codex').format.servers(text));
  });

  test.each([
    'mcp_servers = { a = { command = "x" } }\n',
    'mcp_servers.a.command = "x"\n',
    '[mcp_servers]\na = { command = "x" }\n',
  ])('what is written otherwise is not edited: %j', (odd) => {
    expect(() => connected('codex', odd)).toThrow();
  });
});

describe('YAML', () => {
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

  test('items move, everything else stays', () => {
    const { text: after, moved } = connected('continue', text);
    expect(moved).toEqual(['files', 'remote']);
    expect(after).toContain('name: mine # of me\nversion: 0.0.1\nmcpServers:\n');
    expect(after).toContain('\nmodels:\n  - name:   gpt   # odd blanks\n');
    expect([...client('continue').format.servers(after)]).toEqual([
      ['trunkline', { name: 'trunkline', ...start }],
    ]);
    expect(connected('continue', after).text).toBe(after);
  });

  test.each(['', 'name: x\n', 'mcpServers: []\nname: x\n', 'mcpServers:\nname: x\n'])(
    'a file without servers gets one: %j',
    (before) => {
      const { text: after } = connected('continue', before);
      expect([...client('continue').format.servers(after).keys()]).toEqual(['trunkline']);
    },
  );

  test('a list in one line is not edited', () => {
    expect(() => connected('continue', 'mcpServers: [{ name: a, command: x }]\n')).toThrow(
      'cannot be edited safely',
    );
  });

  test('items come back', () => {
    const back = planReturn(client('continue'), { before: text, now: connected('continue', text).text });
    expect(client('continue').format.servers(back)).toEqual(client('continue').format.servers(text));
  });
});

test.each([
  ['claude-desktop', '/h/.config/Claude/claude_desktop_config.json'],
  ['vscode', '/h/.config/Code/User/mcp.json'],
  ['continue', '/h/.continue/config.yaml'],
  ['codex', '/h/.codex/config.toml'],
])('%s is written in %s', (id, path) => {
  expect(client(id).files(places)[0]).toBe(path);
});
