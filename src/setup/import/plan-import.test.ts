import { describe, expect, test } from 'vitest';

import type { JsonObject } from '../../core/json.ts';
import { buildImportEdits } from './import-edits.ts';
import type { FoundFile } from './find-servers.ts';
import { findServers } from './find-servers.ts';
import { detectGatewayEntry, readGatewayIdentity, readGatewayUrl } from './gateway-entry.ts';
import { planImport } from './plan-import.ts';
import type { ConflictStrategy } from './plan-import.ts';
import { isSameEntry } from './is-same-entry.ts';
import { findPlaintextSecrets } from './plaintext-secrets.ts';
import { importSources } from './sources/sources.ts';

const identity = { files: ['/opt/trunkline/dist/main.js'], addresses: ['127.0.0.1:7332'] };

function found(servers: Record<string, JsonObject>, id = 'cursor'): FoundFile {
  const source = importSources.find((candidate) => candidate.id === id);
  if (source === undefined) throw new Error(`There is no source ${id}.`);
  const read = Object.entries(servers).map(([name, entry]) => ({ name, entry, remarks: [] }));
  return { source, path: `/${id}.json`, scope: 'user', servers: read };
}

function plan(files: readonly FoundFile[], servers: JsonObject = {}, onConflict: ConflictStrategy = 'keep') {
  const options = { servers: new Map(Object.entries(servers)), identity, onConflict, configFile: '/c.jsonc' };
  return planImport(files, options).map(({ state, name, as, reason }) => [
    state,
    name === as ? name : `${name} as ${as}`,
    ...(reason === undefined ? [] : [reason]),
  ]);
}

describe('import plan', () => {
  test('import plan: classifies servers as new, same, conflicting, own or unusable', () => {
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

  test('import plan: reports a restriction of tools that an existing entry does not have', () => {
    const restricted = { command: 'x', tools: { allow: ['read'] } };
    const remarksFor = (files: readonly FoundFile[], servers: JsonObject): unknown =>
      planImport(files, {
        servers: new Map(Object.entries(servers)),
        identity,
        onConflict: 'keep',
        configFile: '/c.jsonc',
      }).at(-1)?.remarks;
    const reported = [expect.stringContaining('limits its tools')];
    expect(remarksFor([found({ a: restricted })], { a: { command: 'x' } })).toEqual(reported);
    expect(remarksFor([found({ a: restricted })], { a: restricted })).toEqual([]);
    // The entry may come from another client in the same import.
    const other = found({ a: { command: 'x' } }, 'zed');
    expect(remarksFor([other, found({ a: restricted })], {})).toEqual(reported);
  });

  test('import plan: keeps a name for the first server that has it', () => {
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

  test('import plan: replaces conflicting servers with onConflict replace', () => {
    expect(plan([found({ a: { command: 'x' } })], { a: { command: 'y' } }, 'replace')).toEqual([
      ['new', 'a'],
    ]);
  });

  test('import plan: unwraps servers that run through trunkline wrap', () => {
    const [step] = planImport(
      [found({ w: { command: 'trunkline', args: ['wrap', '--', 'npx', '-y', 's'], env: { A: 'b' } } })],
      { servers: new Map(), identity, onConflict: 'keep', configFile: '/c' },
    );
    expect(step).toMatchObject({
      state: 'new',
      entry: { command: 'npx', args: ['-y', 's'], env: { A: 'b' } },
    });
  });
});

describe('own entry detection', () => {
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
  ])('own entry: recognizes Trunkline in %j', (entry) => {
    expect(detectGatewayEntry(entry, identity)).toBe('own');
  });

  test.each<JsonObject>([
    { command: 'npx', args: ['-y', 'server-files', '/home/me/trunkline'] },
    { command: 'trunkline-tools' },
    { command: 'uvx', args: ['trunkline'] },
    { url: 'http://127.0.0.1:7333/mcp' },
    { url: 'http://127.0.0.1:7332/other' },
    { url: 'https://mcp.example.com/mcp' },
    { url: 'nonsense' },
  ])('own entry: does not mistake %j for Trunkline', (entry) => {
    expect(detectGatewayEntry(entry, identity)).toBeUndefined();
  });
});

describe('gateway address', () => {
  test.each([
    ['{}', 'http://127.0.0.1:7332'],
    ['{ "http": { "address": "0.0.0.0:8000" } }', 'http://127.0.0.1:8000'],
    ['{ "http": { "address": "[::1]:8000" } }', 'http://[::1]:8000'],
    ['{ "http": { "publicUrl": "https://mcp.example.com/" } }', 'https://mcp.example.com'],
  ])('gateway address: of %s is %s, and an entry with it is recognised', (configText, address) => {
    expect(readGatewayUrl(configText)).toBe(address);
    const known = readGatewayIdentity('/x/main.js', { configText });
    expect(detectGatewayEntry({ url: `${address}/mcp/s/a` }, known)).toBe('own');
  });
});

describe('plaintext secrets', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;

  test.each<[JsonObject, readonly string[]]>([
    [{ command: 'x', env: { GITHUB_TOKEN: token } }, ['GITHUB_TOKEN']],
    [{ command: 'x', env: { API_KEY: 'hunter2hunter2', PORT: '8080', KEY_FILE: '/a/b' } }, ['API_KEY']],
    [{ command: 'x', env: { ANYTHING: token } }, ['ANYTHING']],
    [{ command: 'x', env: { ANYTHING: `tl_${'a1B2'.repeat(14)}` } }, ['ANYTHING']],
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
  ])('plaintext secrets: finds those of %j as %j', (entry, variables) => {
    expect(findPlaintextSecrets('my-server', entry).map(({ variable }) => variable)).toEqual(variables);
  });

  test('plaintext secrets: are replaced by references, and the entry still compares as the same', () => {
    const entry = {
      command: 'x',
      args: ['postgresql://me:hunter2@db/x'],
      env: { API_KEY: 'abcdefgh' },
    };
    const secrets = findPlaintextSecrets('s', entry);
    const { edits, moved } = buildImportEdits([{ name: 's', entry, secrets }], {
      destination: 'env',
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

  test('plaintext secrets: get distinct variable names when their values differ', () => {
    const one = { command: 'x', env: { API_KEY: 'abcdefgh' } };
    const two = { command: 'x', env: { API_KEY: 'hgfedcba' } };
    const servers = [one, two, one].map((entry, at) => {
      const name = `s${at}`;
      return { name, entry, secrets: findPlaintextSecrets(name, entry) };
    });
    const { moved } = buildImportEdits(servers, {
      destination: 'file',
      configFile: '/c/config.jsonc',
      trust: 'manual',
      existingFiles: new Map(),
    });
    expect(moved.map(({ reference, file }) => [reference, file])).toEqual([
      ['${file:secrets/API_KEY}', '/c/secrets/API_KEY'],
      ['${file:secrets/S1_API_KEY}', '/c/secrets/S1_API_KEY'],
      ['${file:secrets/API_KEY}', '/c/secrets/API_KEY'],
    ]);
  });

  test('entry comparison: treats a reference and a literal value as the same', () => {
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

describe('client files', () => {
  const places = { platform: 'linux', home: '/h', cwd: '/w', env: {} } as const;

  test('client files: reads every existing file and reports syntax errors with line and column', async () => {
    const texts: Readonly<Record<string, string>> = {
      '/h/.cursor/mcp.json': '{ "mcpServers": { "a": { "command": "x" } } }',
      '/w/.cursor/mcp.json': '{ oops',
    };
    const read = await findServers(importSources, places, (path) => Promise.resolve(texts[path]));
    expect(read.map(({ path, servers, problem }) => [path, servers.length, problem])).toEqual([
      ['/h/.cursor/mcp.json', 1, undefined],
      ['/w/.cursor/mcp.json', 0, expect.stringMatching(/^line 1, column 3/) as unknown],
    ]);
  });

  test('client files: includes the Windows locations under WSL', async () => {
    const env = { WSL_DISTRO_NAME: 'Debian', USERPROFILE: String.raw`C:\Users\me` };
    const asked: string[] = [];
    await findServers(importSources, { ...places, env }, (path) => {
      asked.push(path);
      return Promise.resolve(undefined);
    });
    expect(asked).toContain('/mnt/c/Users/me/AppData/Roaming/Claude/claude_desktop_config.json');
    expect(asked).toContain('/mnt/c/Users/me/.cursor/mcp.json');
    expect(asked.filter((path) => path === '/w/.cursor/mcp.json')).toHaveLength(1);
  });
});
