import { describe, expect, test } from 'vitest';

import { parseServerInput } from './server-input.ts';

const context = {
  configFile: '/home/me/config.jsonc',
  environment: { platform: 'linux' as const, home: '/home/me', env: {}, cwd: '/project' },
};
const read = (text: string, name?: string) => parseServerInput({ text, name }, context);

describe('pasted configuration', () => {
  test.each([
    ['mcpServers of Claude or Cursor', '{ "mcpServers": { "a": { "command": "x" } } }'],
    ['JSON with comments and trailing commas', '{ // mine\n "mcpServers": { "a": { "command": "x", }, }, }'],
    ['servers of VS Code', '{ "servers": { "a": { "type": "stdio", "command": "x" } } }'],
    ['settings of VS Code', '{ "mcp": { "servers": { "a": { "command": "x" } } } }'],
    ['settings of Zed', '{ "context_servers": { "a": { "source": "custom", "command": "x" } } }'],
    ['a map of servers', '{ "a": { "command": "x" } }'],
    ['members without braces', '"a": { "command": "x" },'],
    ['a list of servers', '{ "mcpServers": [{ "name": "a", "command": "x" }] }'],
    ['a single entry with its name', '{ "name": "a", "command": "x" }'],
    ['TOML of Codex', '[mcp_servers.a]\ncommand = "x"'],
    ['a fenced code block', '```json\n{ "mcpServers": { "a": { "command": "x" } } }\n```'],
  ])('pasted configuration: reads %s', (_, text) => {
    expect(read(text)).toMatchObject([{ name: 'a', entry: { command: 'x' } }]);
  });

  test('pasted configuration: reads a single entry and requires a name for it', () => {
    expect(read('{ "url": "https://a.example/mcp" }', 'a')).toMatchObject([{ name: 'a' }]);
    expect(() => read('{ "url": "https://a.example/mcp" }')).toThrow('The server has no name');
  });

  test.each([
    ['{ "mcpServers": { "a": { "command": "x" }', 'brace'],
    ['', 'no server'],
    ['hello', 'cannot be parsed'],
    ['{}', 'no server'],
    [`"${'x'.repeat(300_000)}"`, 'longer'],
  ])('pasted configuration: rejects unusable text with the message $1', (text, why) => {
    expect(() => read(text)).toThrow(why);
  });

  test('pasted configuration: reports a problem for each invalid server', () => {
    const text = '{ "a": { "comand": "x" }, "b": 1, "c": { "command": "x", "share": "nobody" } }';
    expect(read(text).map(({ name, problem }) => [name, problem])).toEqual([
      ['a', expect.stringContaining('"command"')],
      ['b', 'it is not an object'],
      ['c', expect.stringContaining('share')],
    ]);
  });
});

test('pasted configuration: resolves references of shells, editors and Trunkline', () => {
  const env = {
    A: '${A}',
    B: '${B:-b}',
    C: '${env:C}',
    D: '${input:my-key}',
    E: '${file:secret}',
    F: '${userHome}/x',
  };
  const text = JSON.stringify({
    servers: { a: { command: 'x', env } },
    inputs: [{ id: 'my-key', description: 'The key' }],
  });
  expect(read(text)).toEqual([
    {
      name: 'a',
      entry: {
        command: 'x',
        env: {
          A: '${A}',
          B: '${B:-b}',
          C: '${env:C}',
          D: '${secret:MY_KEY}',
          E: '${file:secret}',
          F: '/home/me/x',
        },
      },
      remarks: ['it needs a value (The key): trunkline secret set MY_KEY'],
    },
  ]);
  expect(read('{ "a": { "command": "x", "cwd": "${workspaceFolder}" } }')[0]?.problem).toContain(
    'every project',
  );
});

test('pasted configuration: keeps entries in the own format unchanged', () => {
  const entry = { command: 'x', cli: true, share: 'session', tools: { deny: ['a'] }, idle: 'never' };
  expect(parseServerInput({ servers: { a: entry } }, context)).toEqual([{ name: 'a', entry, remarks: [] }]);
});
