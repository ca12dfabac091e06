import { describe, expect, test } from 'vitest';

import { givenServers } from './given-servers.ts';

const place = {
  configFile: '/home/me/config.jsonc',
  places: { platform: 'linux' as const, home: '/home/me', env: {}, cwd: '/work' },
};
const read = (text: string, name?: string) => givenServers({ text, name }, place);

describe('what people paste', () => {
  test.each([
    ['the file of Claude or Cursor', '{ "mcpServers": { "a": { "command": "x" } } }'],
    ['with comments and trailing commas', '{ // mine\n "mcpServers": { "a": { "command": "x", }, }, }'],
    ['the file of VS Code', '{ "servers": { "a": { "type": "stdio", "command": "x" } } }'],
    ['its settings', '{ "mcp": { "servers": { "a": { "command": "x" } } } }'],
    ['the settings of Zed', '{ "context_servers": { "a": { "source": "custom", "command": "x" } } }'],
    ['the map alone', '{ "a": { "command": "x" } }'],
    ['members alone', '"a": { "command": "x" },'],
    ['a list', '{ "mcpServers": [{ "name": "a", "command": "x" }] }'],
    ['an entry with its name', '{ "name": "a", "command": "x" }'],
    ['TOML of Codex', '[mcp_servers.a]\ncommand = "x"'],
    ['out of a chat', '```json\n{ "mcpServers": { "a": { "command": "x" } } }\n```'],
  ])('%s', (_, text) => {
    expect(read(text)).toMatchObject([{ name: 'a', entry: { command: 'x' } }]);
  });

  test('may be one entry, whose name is asked for', () => {
    expect(read('{ "url": "https://a.example/mcp" }', 'a')).toMatchObject([{ name: 'a' }]);
    expect(() => read('{ "url": "https://a.example/mcp" }')).toThrow('under which name');
  });

  test.each([
    ['{ "mcpServers": { "a": { "command": "x" }', 'brace'],
    ['', 'no server'],
    ['hello', 'cannot be read'],
    ['{}', 'no server'],
    [`"${'x'.repeat(300_000)}"`, 'longer'],
  ])('is refused in words when it is nothing', (text, why) => {
    expect(() => read(text)).toThrow(why);
  });

  test('has a problem for each server that cannot be used', () => {
    const text = '{ "a": { "comand": "x" }, "b": 1, "c": { "command": "x", "share": "nobody" } }';
    expect(read(text).map(({ name, problem }) => [name, problem])).toEqual([
      ['a', expect.stringContaining('"command"')],
      ['b', 'it is not an object'],
      ['c', expect.stringContaining('share')],
    ]);
  });
});

test('references of shells, editors and ours mean what they meant', () => {
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
          D: '${env:MY_KEY}',
          E: '${file:secret}',
          F: '/home/me/x',
        },
      },
      remarks: ['set MY_KEY in the environment: The key'],
    },
  ]);
  expect(read('{ "a": { "command": "x", "cwd": "${workspaceFolder}" } }')[0]?.problem).toContain(
    'every project',
  );
});

test('entries of ours stay as they are', () => {
  const entry = { command: 'x', cli: true, share: 'session', tools: { deny: ['a'] }, idle: 'never' };
  expect(givenServers({ servers: { a: entry } }, place)).toEqual([{ name: 'a', entry, remarks: [] }]);
});
