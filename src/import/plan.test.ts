import { describe, expect, test } from 'vitest';

import type { JsonObject } from '../model/json.ts';
import { additions } from './apply-plan.ts';
import type { FoundFile } from './find-servers.ts';
import { findServers } from './find-servers.ts';
import { ownEntry } from './own-entry.ts';
import { planImport } from './plan.ts';
import type { OnConflict } from './plan.ts';
import { isSameEntry } from './same-entry.ts';
import { plainSecrets } from './secrets.ts';
import { cursor } from './sources/cursor.ts';
import { sources } from './sources/sources.ts';

const own = { files: ['/opt/trunkline/dist/main.js'], addresses: ['127.0.0.1:7332'] };

function found(servers: Record<string, JsonObject>, id = 'cursor'): FoundFile {
  const source = sources.find((each) => each.id === id) ?? cursor;
  const read = Object.entries(servers).map(([name, entry]) => ({ name, entry, remarks: [] }));
  return { source, path: `/${id}.json`, scope: 'user', servers: read };
}

function plan(files: readonly FoundFile[], servers: JsonObject = {}, onConflict: OnConflict = 'keep') {
  const options = { servers: new Map(Object.entries(servers)), own, onConflict, configFile: '/c.jsonc' };
  return planImport(files, options).map(({ state, name, as, reason }) => [
    ...[state, name === as ? name : `${name} as ${as}`],
    ...(reason === undefined ? [] : [reason]),
  ]);
}

describe('a plan', () => {
  test('has what is new, the same, conflicting, unusable, and Trunkline itself', () => {
    const file = found({
      new: { command: 'n' },
      same: { command: 's', args: ['1'] },
      twin: { command: 's', args: ['1'] },
      other: { command: 'mine' },
      self: { command: 'trunkline', args: ['serve'] },
      'bad\u0001': { command: 'x' },
    });
    const broken = { ...file, servers: [...file.servers, { name: 'wrong', problem: 'why', remarks: [] }] };
    expect(
      plan([broken], { same: { command: 's', args: ['1'] }, other: { url: 'https://o.example' } }),
    ).toEqual([
      ['new', 'new'],
      ['same', 'same'],
      ['same', 'twin as same'],
      ['conflicting', 'other', 'another server has this name'],
      ['own', 'self', 'it is Trunkline itself'],
      ['unusable', 'bad\u0001', 'its name has control characters'],
      ['unusable', 'wrong', 'why'],
    ]);
  });

  test('gives a name to the first that has it', () => {
    const files = [
      found({ a: { command: 'x' } }),
      found({ a: { command: 'x' }, b: { command: 'z' } }, 'zed'),
      found({ b: { command: 'y' } }, 'codex'),
    ];
    expect(plan(files)).toEqual([
      ['new', 'a'],
      ['same', 'a'],
      ['new', 'b'],
      ['conflicting', 'b', 'another server has this name'],
    ]);
    expect(plan(files, {}, 'rename').at(-1)).toEqual(['new', 'b as b-codex']);
  });

  test('replaces when asked to', () => {
    expect(plan([found({ a: { command: 'x' } })], { a: { command: 'y' } }, 'replace')).toEqual([
      ['new', 'a'],
    ]);
  });

  test('unpacks what Trunkline wraps', () => {
    const [step] = planImport(
      [found({ w: { command: 'trunkline', args: ['wrap', '--', 'npx', '-y', 's'], env: { A: 'b' } } })],
      { servers: new Map(), own, onConflict: 'keep', configFile: '/c' },
    );
    expect(step).toMatchObject({
      state: 'new',
      entry: { command: 'npx', args: ['-y', 's'], env: { A: 'b' } },
    });
  });
});

describe('Trunkline is recognised', () => {
  test.each<JsonObject>([
    { command: 'trunkline', args: ['serve'] },
    { command: '/usr/local/bin/trunkline', args: ['serve', '--config', 'x'] },
    { command: String.raw`C:\npm\trunkline.cmd` },
    { command: 'npx', args: ['-y', 'trunkline', 'serve'] },
    { command: 'npx', args: ['trunkline@1.2.3', 'serve'] },
    { command: 'cmd', args: ['/c', 'npx', '-y', 'trunkline@latest', 'serve'] },
    { command: 'sh', args: ['-c', 'exec trunkline serve'] },
    { command: 'node', args: ['--enable-source-maps', '/opt/trunkline/dist/main.js', 'serve'] },
    { command: 'node', args: ['/x/node_modules/trunkline/dist/main.js', 'serve'] },
    { command: '/usr/bin/env', args: ['A=b', 'trunkline', 'serve'] },
    { command: 'trunkline', args: ['wrap', '--url', 'https://x.example'] },
    { command: 'trunkline', args: ['wrap', '--', 'trunkline', 'serve'] },
    { url: 'http://127.0.0.1:7332/mcp' },
    { url: 'http://localhost:7332/mcp/s/github' },
    { url: 'http://[::1]:7332/sse' },
  ])('in %j', (entry) => {
    expect(ownEntry(entry, own)).toBe('own');
  });

  test.each<JsonObject>([
    { command: 'npx', args: ['-y', 'server-files', '/home/me/trunkline'] },
    { command: 'trunkline-tools' },
    { command: 'uvx', args: ['trunkline'] },
    { url: 'http://127.0.0.1:7333/mcp' },
    { url: 'http://127.0.0.1:7332/other' },
    { url: 'https://mcp.example.com/mcp' },
    { url: 'nonsense' },
  ])('but not in %j', (entry) => {
    expect(ownEntry(entry, own)).toBeUndefined();
  });
});

describe('secrets in plain text', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;

  test.each<[JsonObject, readonly string[]]>([
    [{ command: 'x', env: { GITHUB_TOKEN: token } }, ['GITHUB_TOKEN']],
    [{ command: 'x', env: { API_KEY: 'hunter2hunter2', PORT: '8080', KEY_FILE: '/a/b' } }, ['API_KEY']],
    [{ command: 'x', env: { ANYTHING: token } }, ['ANYTHING']],
    [{ command: 'x', env: { TOKEN: '${env:TOKEN}' } }, []],
    [{ command: 'x', env: { API_KEY: '<your key>', TOKEN: 'YOUR_TOKEN_HERE' } }, []],
    [{ url: 'https://x.example', headers: { Authorization: 'Bearer abcdefgh' } }, ['MY_SERVER_TOKEN']],
    [
      { url: 'https://x.example', headers: { 'X-Api-Key': 'abcdefgh', Accept: 'text/plain' } },
      ['MY_SERVER_API_KEY'],
    ],
    [{ url: 'https://x.example/mcp?api_key=abcdefgh&x=1' }, ['MY_SERVER_TOKEN']],
    [{ command: 'x', args: ['--api-key', 'abcdefgh', '--port', '80'] }, ['MY_SERVER_API_KEY']],
    [{ command: 'x', args: ['--token=abcdefgh'] }, ['MY_SERVER_TOKEN']],
    [{ command: 'x', args: ['postgresql://me:hunter2@db/x'] }, ['MY_SERVER_SECRET']],
    [{ command: 'npx', args: ['-y', 'some-server', '/home/me'] }, []],
  ])('of %j are %j', (entry, variables) => {
    expect(plainSecrets('my-server', entry).map(({ variable }) => variable)).toEqual(variables);
  });

  test('become references, and the entry is still the same one', () => {
    const entry = {
      command: 'x',
      args: ['postgresql://me:hunter2@db/x'],
      env: { API_KEY: 'abcdefgh' },
    };
    const secrets = plainSecrets('s', entry);
    const { edits, moved } = additions([{ name: 's', entry, secrets }], {
      place: 'env',
      configFile: '/c/config.jsonc',
      trust: 'first-sight',
    });
    expect(edits).toEqual([
      {
        path: ['mcpServers', 's'],
        value: {
          command: 'x',
          args: ['postgresql://me:${env:S_SECRET}@db/x'],
          env: { API_KEY: '${env:API_KEY}' },
        },
      },
    ]);
    expect(moved.map(({ variable, value }) => [variable, value])).toEqual([
      ['API_KEY', 'abcdefgh'],
      ['S_SECRET', 'hunter2'],
    ]);
    expect(isSameEntry(edits[0]?.value, entry)).toBe(true);
    expect(isSameEntry(edits[0]?.value, { ...entry, args: ['postgresql://you:hunter2@db/x'] })).toBe(false);
  });

  test('of the same name and another value get another name', () => {
    const one = { command: 'x', env: { API_KEY: 'abcdefgh' } };
    const two = { command: 'x', env: { API_KEY: 'hgfedcba' } };
    const servers = [one, two, one].map((entry, at) => {
      const name = `s${at}`;
      return { name, entry, secrets: plainSecrets(name, entry) };
    });
    const { moved } = additions(servers, {
      place: 'file',
      configFile: '/c/config.jsonc',
      trust: 'manual',
      known: new Map(),
    });
    expect(moved.map(({ reference, file }) => [reference, file])).toEqual([
      ['${file:secrets/API_KEY}', '/c/secrets/API_KEY'],
      ['${file:secrets/S1_API_KEY}', '/c/secrets/S1_API_KEY'],
      ['${file:secrets/API_KEY}', '/c/secrets/API_KEY'],
    ]);
  });

  test('are told from what a reference stands for', () => {
    expect(isSameEntry({ command: 'x' }, { command: 'x', args: [] })).toBe(true);
    expect(isSameEntry({ command: 'x', env: { A: '${env:A}' } }, { command: 'x', env: { A: 'b' } })).toBe(
      true,
    );
    expect(isSameEntry({ command: 'x', env: { A: 'c' } }, { command: 'x', env: { A: 'b' } })).toBe(false);
    expect(isSameEntry({ url: 'https://a' }, { command: 'https://a' })).toBe(false);
    expect(
      isSameEntry(
        { url: 'https://a', authorizationToken: '${env:T}' },
        { url: 'https://a', headers: { authorization: 'Bearer x' } },
      ),
    ).toBe(true);
  });
});

describe('files', () => {
  const places = { platform: 'linux', home: '/h', cwd: '/w', env: {} } as const;

  test('are read where they are, and one that is broken says so', async () => {
    const texts: Readonly<Record<string, string>> = {
      '/h/.cursor/mcp.json': '{ "mcpServers": { "a": { "command": "x" } } }',
      '/w/.cursor/mcp.json': '{ oops',
    };
    const read = await findServers(sources, places, (path) => Promise.resolve(texts[path]));
    expect(read.map(({ path, servers, problem }) => [path, servers.length, problem])).toEqual([
      ['/h/.cursor/mcp.json', 1, undefined],
      ['/w/.cursor/mcp.json', 0, expect.stringMatching(/^line 1, column 3/) as unknown],
    ]);
  });

  test('of Windows are found from its subsystem for Linux', async () => {
    const env = { WSL_DISTRO_NAME: 'Debian', USERPROFILE: String.raw`C:\Users\me` };
    const asked: string[] = [];
    await findServers(sources, { ...places, env }, (path) => {
      asked.push(path);
      return Promise.resolve(undefined);
    });
    expect(asked).toContain('/mnt/c/Users/me/AppData/Roaming/Claude/claude_desktop_config.json');
    expect(asked).toContain('/mnt/c/Users/me/.cursor/mcp.json');
    expect(asked.filter((path) => path === '/w/.cursor/mcp.json')).toHaveLength(1);
  });
});
