import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { clients } from '../import/sources/clients.ts';
import type { NeededVariables } from '../import/sources/client-declaration.ts';
import type { ClientEnvironment } from '../import/import-source.ts';
import { planImport } from '../import/plan-import.ts';
import type { ImportStep } from '../import/plan-import.ts';
import { buildProgramEntry, buildSplitEntries } from './client-entries.ts';
import type { ClientEntries } from './client-entries.ts';
import { connectableClients } from './connectable-clients.ts';
import type { ConnectableClient } from './connectable-clients.ts';
import { ConnectionHistory } from './connection-history.ts';
import { planConnection, planMergedUndo } from './plan-connection.ts';

const environment: ClientEnvironment = { platform: 'linux', home: '/h', cwd: '/w', env: {} };
const launch = { command: 'trunkline', args: ['serve'] };
const baseUrl = 'http://127.0.0.1:7332';

const all = connectableClients.map((client) => [client.source.id, client] as const);

function needs(referenced: readonly string[]): NeededVariables {
  return { referenced, set: referenced, session: [] };
}

function client(id: string): ConnectableClient {
  const found = connectableClients.find(({ source }) => source.id === id);
  if (found === undefined) throw new Error(`There is no client ${id}.`);
  return found;
}

/** Returns a file with two servers and other content, formatted as a person might have done it. */
function sampleFile({ source }: ConnectableClient): string {
  const declaration = clients.find(({ id }) => id === source.id);
  const path = declaration?.servers ?? ['mcpServers'];
  const isList = declaration?.connect.isList === true;
  if (declaration?.syntax === 'toml') {
    return '# mine\r\nmodel = "m"   # odd\r\n\r\n[mcp_servers.files]\r\ncommand = "x"\r\nargs = ["a"]\r\n\r\n[mcp_servers.docs]\r\nurl = "https://docs.example/mcp"\r\n';
  }
  if (declaration?.syntax === 'yaml') {
    const files = isList
      ? '- name: files\n    command: x\n    args: [a]'
      : 'files:\n    type: stdio\n    cmd: x\n    args: [a]';
    const docs = isList ? '- name: docs\n    url: https://docs.example/mcp' : docsExtension;
    return `# mine\nname:   me # odd\n${path[0]}:\n  # files\n  ${files}\n  ${docs}\nrest:\n  - 1\n`;
  }
  const servers =
    '{ "files": {"command": "x", "args": ["a"]},\n\t"docs": { "url": "https://docs.example/mcp" } }';
  const nested = path.toReversed().reduce((inner, key) => `{ "${key}": ${inner} }`, servers);
  return `${nested.slice(0, -1)},\n  // mine\n  "other": [1,2,   3]}`;
}

const docsExtension = 'docs:\n    type: streamable_http\n    uri: https://docs.example/mcp';

function planSteps({ source, files }: ConnectableClient, text: string): readonly ImportStep[] {
  const [path = ''] = files(environment);
  const servers = source.read(text, { path, scope: 'user', environment });
  return planImport([{ source, path, scope: 'user', servers }], {
    servers: new Map(),
    identity: { files: [], addresses: ['127.0.0.1:7332'] },
    onConflict: 'keep',
    configFile: '/c',
  });
}

function connect(target: ConnectableClient, text: string, wanted: ClientEntries) {
  return planConnection(target, text, { steps: planSteps(target, text), wanted });
}

function splitEntries(target: ConnectableClient, servers: readonly string[]): ClientEntries {
  const entries = buildSplitEntries(target, servers, { baseUrl, isTaken: () => false });
  if (entries === undefined) throw new Error('The client only starts programs.');
  return entries;
}

test('connect: at least 30 clients can be connected, each with an id and a file of its own', () => {
  expect(connectableClients.length).toBeGreaterThanOrEqual(30);
  expect(new Set(all.map(([id]) => id)).size).toBe(all.length);
  expect(new Set(all.map(([, { files }]) => files(environment)[0])).size).toBe(all.length);
});

test('connect: the page on clients names every client', () => {
  const page = readFileSync(new URL('../../../docs/clients.md', import.meta.url), 'utf8');
  expect(all.filter(([id]) => !page.includes(`| \`${id}\` |`)).map(([id]) => id)).toEqual([]);
});

describe('every client', () => {
  test.each(all)(
    'connect (%s): moves the servers, and is recognised as connected afterwards',
    (_, target) => {
      const text = sampleFile(target);
      const wanted = buildProgramEntry(target, launch, needs(['A_TOKEN']));
      const plan = connect(target, text, wanted);
      expect(plan.moved).toEqual(['files', 'docs']);
      expect([...target.format.readServers(plan.text).keys()]).toEqual(['trunkline']);
      expect(connect(target, plan.text, wanted).text).toBe(plan.text);
      expect(target.format.readServers(connect(target, '', wanted).text).size).toBe(1);
    },
  );

  test.each(all)('connect (%s): undo restores the file byte for byte', async (id, target) => {
    const folder = await mkdtemp(join(tmpdir(), 'trunkline-connect-'));
    try {
      const file = join(folder, 'client-file');
      const before = Buffer.from(sampleFile(target));
      await writeFile(file, before);
      const { text, written } = connect(
        target,
        before.toString(),
        buildProgramEntry(target, launch, needs(['A'])),
      );
      const history = new ConnectionHistory(folder);
      const record = await history.write(id, { file, before, after: text, written }, new Date(0));
      expect((await readFile(file)).equals(before)).toBe(false);
      await history.undo(id, record);
      expect((await readFile(file)).equals(before)).toBe(true);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test.each(all)('disconnect (%s): restores the servers in a file that has changed since', (_, target) => {
    const before = sampleFile(target);
    const { text, written } = connect(target, before, buildProgramEntry(target, launch, needs([])));
    const back = planMergedUndo(target, { before, now: text, written });
    expect(target.format.readServers(back)).toEqual(target.format.readServers(before));
  });

  const remote = all.filter(([, { declaration }]) => declaration.remote !== undefined);

  test.each(remote)('connect --split (%s): one entry per server, and back', (_, target) => {
    const before = sampleFile(target);
    const wanted = splitEntries(target, ['files', 'my docs']);
    const { text, written, moved } = connect(target, before, wanted);
    expect(moved).toEqual(['files', 'docs']);
    expect(written).toEqual(['files', 'my-docs']);
    expect(JSON.stringify([...target.format.readServers(text)])).toContain(`${baseUrl}/mcp/s/my%20docs`);
    expect(connect(target, text, wanted).text).toBe(text);
    const back = planMergedUndo(target, { before, now: text, written });
    expect(target.format.readServers(back)).toEqual(target.format.readServers(before));
    const single = connect(target, text, buildProgramEntry(target, launch, needs([])));
    expect([...target.format.readServers(single.text).keys()]).toEqual(['trunkline']);
  });
});

describe('entries', () => {
  const entryOf = (id: string, variables: readonly string[] = []): unknown =>
    buildProgramEntry(client(id), launch, needs(variables)).entries.get('trunkline');

  test.each([
    ['claude-code', { type: 'stdio', ...launch, alwaysLoad: true }],
    ['codex', { ...launch, required: true, omit_tools_from: ['deferred'] }],
    ['copilot-cli', { type: 'local', tools: ['*'], ...launch, deferTools: 'never', disableToolCache: true }],
    ['qwen-code', { ...launch, alwaysLoadTools: true }],
    ['cline', { ...launch, timeout: 60 }],
    ['opencode', { type: 'local', command: ['trunkline', 'serve'], enabled: true }],
    ['kimi-code', { transport: 'stdio', ...launch }],
    ['cursor', launch],
  ])('connect (%s): keeps our tools loaded where the client would hide them behind a search', (id, entry) => {
    expect(entryOf(id)).toEqual(entry);
  });

  test('connect: hands over the variables that the configuration refers to, where the client withholds them', () => {
    expect(entryOf('codex', ['A_TOKEN', 'B'])).toMatchObject({ env_vars: ['A_TOKEN', 'B'] });
    expect(entryOf('gemini-cli', ['A_TOKEN'])).toMatchObject({ env: { A_TOKEN: '${A_TOKEN:-}' } });
    expect(entryOf('qoder', ['A_TOKEN'])).toMatchObject({ env: { A_TOKEN: '${A_TOKEN:-}' } });
    expect(entryOf('openclaw', ['A_TOKEN'])).toMatchObject({ env: { A_TOKEN: '${A_TOKEN}' } });
    expect(entryOf('claude-code', ['A_TOKEN'])).not.toHaveProperty('env');
    const fixed = buildProgramEntry(
      client('codex'),
      { ...launch, env: { HOME_OF: '/x' } },
      needs(['HOME_OF', 'A']),
    );
    const session = { referenced: ['A'], set: [], session: ['HTTPS_PROXY'] };
    expect(buildProgramEntry(client('openclaw'), launch, session).entries.get('trunkline')).toMatchObject({
      env: { HTTPS_PROXY: '${HTTPS_PROXY}' },
    });
    expect(buildProgramEntry(client('codex'), launch, session).entries.get('trunkline')).toMatchObject({
      env_vars: ['A', 'HTTPS_PROXY'],
    });
    expect(fixed.entries.get('trunkline')).toMatchObject({ env: { HOME_OF: '/x' }, env_vars: ['A'] });
  });

  test('connect: completes an entry of an older version, and keeps what the user changed in it', () => {
    const old =
      '[mcp_servers.trunkline]\ncommand = "trunkline"\nargs = [ "serve", "--profile", "work" ]\nenv_vars = [ "MINE" ]\n';
    const plan = connect(
      client('codex'),
      old,
      buildProgramEntry(client('codex'), launch, needs(['A', 'MINE'])),
    );
    expect(plan.completedMembers).toEqual(['env_vars', 'required', 'omit_tools_from']);
    expect(client('codex').format.readServers(plan.text).get('trunkline')).toEqual({
      command: 'trunkline',
      args: ['serve', '--profile', 'work'],
      env_vars: ['MINE', 'A'],
      required: true,
      omit_tools_from: ['deferred'],
    });
    const off = '{"mcpServers":{"trunkline":{"command":"trunkline","args":["serve"],"alwaysLoad":false}}}';
    expect(
      connect(client('claude-code'), off, buildProgramEntry(client('claude-code'), launch, needs([]))).text,
    ).toBe(off);
  });

  test('connect --split: names that clients reject or that are taken get another form', () => {
    const entries = buildSplitEntries(client('codex'), ['a b', 'a-b', 'c'], {
      baseUrl,
      isTaken: (name) => name === 'c',
    });
    expect([...(entries?.entries.keys() ?? [])]).toEqual(['a-b', 'a-b-trunkline', 'c-trunkline']);
    expect(
      buildSplitEntries(client('claude-desktop'), ['a'], { baseUrl, isTaken: () => false }),
    ).toBeUndefined();
  });
});
