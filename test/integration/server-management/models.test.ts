import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import {
  rpcErrorOf,
  gatewayErrorCode,
  serverPid,
  textOfResult,
  waitForTool,
} from '../../support/client-helpers.ts';
import { openTestSetup } from '../../support/cell.ts';
import type { Cell } from '../../support/cell.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import type { ToolResult } from '../../support/raw-messages.ts';
import { isToolListChange } from '../../support/reloading-gateway.ts';
import { SharedHome } from '../../support/shared-home.ts';

checkLeaks();

const cells: readonly Cell[] = [
  { downstream: 'stdio/legacy', upstream: 'stdio/legacy' },
  { downstream: 'http/modern', upstream: 'stdio/modern' },
];
const config = { management: true, startup: { listWait: '60s' } };
const SECRET = 'hush-7f3a91c2';

const manage = (client: RawClient, operation: string, more: object = {}): Promise<ToolResult> =>
  client.callTool('manage_servers', { operation, ...more });
const structured = (result: ToolResult): Readonly<Record<string, unknown>> =>
  result['structuredContent'] as Readonly<Record<string, unknown>>;
const results = (result: ToolResult): readonly { name: string; result: string; reason?: string }[] =>
  structured(result)['results'] as readonly { name: string; result: string; reason?: string }[];
const names = async (client: RawClient): Promise<readonly string[]> =>
  (await client.listTools()).map(({ name }) => name);

describe.each(cells)('management tools ($downstream)', (cell) => {
  test.each(['direct', 'search', 'code'])('management tools: are listed with %s exposure', async (kind) => {
    await using line = await openTestSetup(cell, { one: ['plain'] }, { config, args: ['--expose', kind] });
    const tools = await line.client.listTools();
    expect(tools.slice(0, 2).map(({ name }) => name)).toEqual(['manage_servers', 'tool_stats']);
    expect(tools[0]).toMatchObject({ annotations: { destructiveHint: true, readOnlyHint: false } });
    expect(tools[1]).toMatchObject({ annotations: { readOnlyHint: true } });
    expect(textOfResult(await manage(line.client, 'list'))).toContain('one: ');
  });

  test('management tools: do not start an added server before a person approves it', async () => {
    await using line = await openTestSetup(cell, { one: ['plain'] }, { config });
    const entry = fixture('plain');
    const added = await manage(line.client, 'add', { name: 'two', server: entry });
    expect(results(added)).toMatchObject([{ name: 'two', result: 'added', trust: 'manual' }]);
    expect(textOfResult(added)).toContain('trunkline approvals');
    // No operation of a model starts it.
    for (const operation of ['restart', 'refresh']) {
      const refused = await manage(line.client, operation, { name: 'two' });
      expect(gatewayErrorCode(refused)).toBe('QUARANTINED');
    }
    await manage(line.client, 'disable', { name: 'two' });
    await manage(line.client, 'enable', { name: 'two' });
    const trusted = await manage(line.client, 'update', { name: 'two', changes: { trust: 'first-sight' } });
    expect(gatewayErrorCode(trusted)).toBe('ARGUMENTS_REFUSED');
    const listed = await manage(line.client, 'list');
    expect(structured(listed)['servers']).toMatchObject([{ name: 'one' }, { name: 'two', state: 'held' }]);
    expect(gatewayErrorCode(await line.client.callTool('two__echo', { text: 'a' }))).toBe('QUARANTINED');
    expect(fixtureLog(entry).all()).toEqual([]);
  });
});

test('management tools: hold an added server until approved, and again when its launch changes', async () => {
  const entry = fixture('plain');
  await using home = new SharedHome({ mcpServers: { one: fixture('plain') }, config });
  const client = await (await home.pipe()).client();
  const where = ['--config', join(home.home, 'config.jsonc')];
  await manage(client, 'add', { servers: { two: entry } });
  expect(fixtureLog(entry).all()).toEqual([]);
  expect((await home.command('approvals', 'accept', 'two', '--all', ...where)).code).toBe(0);
  await waitForTool(client, 'two__echo');
  expect(textOfResult(await client.callTool('two__echo', { text: 'hi' }))).toBe('hi');
  const pid = await serverPid(client, 'two');
  const other = await serverPid(client, 'one');
  // Harmless settings do not change that.
  expect(
    textOfResult(await manage(client, 'update', { name: 'two', changes: { timeouts: { call: '20s' } } })),
  ).toContain('was changed');
  expect(await serverPid(client, 'two')).toBe(pid);
  const started = fixtureLog(entry).of('started').length;
  const held = await manage(client, 'update', { name: 'two', changes: { env: { EXTRA: '1' } } });
  expect(structured(held)).toMatchObject({
    isHeld: true,
    changed: ['env.EXTRA'],
    applied: { state: 'applied' },
  });
  const refused = await client.callTool('two__echo', { text: 'again' });
  expect(gatewayErrorCode(refused)).toBe('QUARANTINED');
  expect(fixtureLog(entry).of('started')).toHaveLength(started);
  expect(await serverPid(client, 'one')).toBe(other);
  // The same applies to a server that a person has configured.
  expect(structured(await manage(client, 'update', { name: 'one', changes: { args: null } }))).toMatchObject({
    isHeld: true,
  });
  expect(gatewayErrorCode(await client.callTool('one__echo', { text: 'b' }))).toBe('QUARANTINED');
});

test('management tools: report a batch entry by entry and accept pasted client configs', async () => {
  const cell: Cell = { downstream: 'stdio/legacy', upstream: 'stdio/legacy' };
  await using line = await openTestSetup(cell, { one: ['plain'] }, { config });
  const file = line.gateway.configFile;
  writeFileSync(file, readFileSync(file, 'utf8').replace('"mcpServers"', '// of mine\n  "mcpServers"'));
  const batch = await manage(line.client, 'add', {
    servers: { good: { command: 'x' }, bad: { comand: 'x' }, one: { command: 'y' }, worse: 7 },
  });
  expect(results(batch).map(({ name, result }) => [name, result])).toEqual([
    ['good', 'added'],
    ['bad', 'refused'],
    ['one', 'refused'],
    ['worse', 'refused'],
  ]);
  const pasted = await manage(line.client, 'add', {
    text: '// from Cursor\n{ "mcpServers": { "tickets": { "url": "https://tickets.example/mcp", "headers": { "X-Key": "${env:TICKETS}" } }, "notes": { "command": "npx", "args": ["-y", "notes"], "env": { "HOME_DIR": "${userHome}/n" } }, }, }',
  });
  expect(results(pasted).map(({ name, result }) => [name, result])).toEqual([
    ['tickets', 'added'],
    ['notes', 'added'],
  ]);
  const text = readFileSync(file, 'utf8');
  expect(text).toContain('// of mine\n');
  expect(text).toContain('"X-Key": "${env:TICKETS}"');
  expect(text).not.toContain('userHome');
  expect(text.match(/"trust": "manual"/g)).toHaveLength(3);
  const itself = await manage(line.client, 'add', {
    name: 'me',
    server: { command: 'npx', args: ['trunkline', 'serve'] },
  });
  expect(results(itself)[0]).toMatchObject({ result: 'refused', reason: 'it is Trunkline itself' });
});

test('management tools: never reveal secrets and keep masked values unchanged', async () => {
  const entry = fixture('writes-its-environment', '--password', `${SECRET}-arg`);
  const mcpServers = {
    one: { ...entry, env: { ...entry.env, TOKEN: SECRET, MORE: '${env:PLANTED}' } },
  };
  const settings = { ...config, audit: { arguments: true, results: true } };
  await using home = new SharedHome({ mcpServers, config: settings, env: { PLANTED: `${SECRET}-env` } });
  const client = await (await home.pipe()).client();
  await waitForTool(client, 'one__echo');
  const where = ['--config', join(home.home, 'config.jsonc')];
  const shown = await manage(client, 'list');
  const [server] = structured(shown)['servers'] as readonly { entry: { env: Record<string, string> } }[];
  expect(server?.entry.env).toMatchObject({ TOKEN: '•••', MORE: '${env:PLANTED}' });
  const back = await manage(client, 'update', {
    name: 'one',
    changes: { ...server?.entry, timeouts: { call: '9s' } },
  });
  expect(structured(back)).toMatchObject({ changed: ['timeouts'], isHeld: false });
  const text = readFileSync(join(home.home, 'config.jsonc'), 'utf8');
  expect(text).toContain(`"TOKEN": "${SECRET}"`);
  const added = await manage(client, 'add', {
    name: 'b',
    server: { command: 'x', env: { KEY: `${SECRET}-added` } },
  });
  const more = await manage(client, 'add', {
    text: `{"c": {"command": "x", "args": ["--token=${SECRET}-text"]}}`,
  });
  const log = await eventually(async () => {
    const tail = await manage(client, 'tail_log', { name: 'one', lines: 500 });
    return textOfResult(tail).includes('stderr ready') && tail;
  });
  expect(textOfResult(log)).toContain('TOKEN=•••');
  const outcomes = await Promise.all([
    home.command('logs', '--export', 'jsonl', ...where),
    home.command('logs', '--process', 'one', '--json', ...where),
    home.command('servers', '--json', ...where),
    home.command('approvals', '--json', ...where),
  ]);
  expect(outcomes[0].stdout).toContain('manage_servers');
  expect(outcomes[0].stdout).toContain('"action":"update"');
  const everything = JSON.stringify([shown, back, added, more, log, outcomes]);
  expect(everything).not.toContain(SECRET);
  expect(readFileSync(join(home.home, 'state', 'logs', 'servers', 'one.log'), 'utf8')).not.toContain(SECRET);
});

describe('access to the management tools', () => {
  const cell: Cell = { downstream: 'stdio/legacy', upstream: 'stdio/legacy' };
  test.each([
    ['without the management setting', {}],
    ['with a read-only config', { management: true, readOnly: true }],
    [
      'by a deny rule',
      {
        management: true,
        policy: { rules: [{ id: 'r', effect: 'deny', servers: ['trunkline'] }] },
      },
    ],
    ['in a profile without them', { management: true, profiles: { default: { servers: ['one'] } } }],
  ])('management tools: are hidden %s', async (_, settings) => {
    await using line = await openTestSetup(
      cell,
      { one: ['plain'] },
      { config: { ...settings, startup: { listWait: '60s' } } },
    );
    const before = readFileSync(line.gateway.configFile, 'utf8');
    const listed = await names(line.client);
    expect(listed).toContain('one__echo');
    expect(listed).not.toContain('manage_servers');
    expect(listed).not.toContain('tool_stats');
    await rpcErrorOf(manage(line.client, 'remove', { name: 'one' }));
    expect(readFileSync(line.gateway.configFile, 'utf8')).toBe(before);
  });

  test('management tools: appear and disappear with the setting, each time with a list_changed notification', async () => {
    await using line = await openTestSetup(
      cell,
      { one: ['plain'] },
      { config: { startup: { listWait: '60s' } } },
    );
    const own = async (): Promise<readonly string[]> =>
      (await names(line.client)).filter((name) => !name.startsWith('one__'));
    expect(await own()).toEqual([]);
    const file = line.gateway.configFile;
    const without = readFileSync(file, 'utf8');
    const change = async (text: string): Promise<void> => {
      const notification = line.client.notifications.next(isToolListChange);
      writeFileSync(file, text);
      await notification;
    };
    await change(without.replace('{', '{ "management": true,'));
    expect(await own()).toEqual(['manage_servers', 'tool_stats']);
    await change(without);
    expect(await own()).toEqual([]);
    await rpcErrorOf(manage(line.client, 'list'));
  });
});

test('management tools: hide servers that a rule denies and hold unapproved ones when enabled', async () => {
  const [prod, spare] = [fixture('plain'), fixture('plain')];
  const rule = { id: 'no-prod', effect: 'deny', tags: ['prod'] };
  await using home = new SharedHome({
    mcpServers: {
      one: fixture('plain'),
      prod: { ...prod, tags: ['prod'], enabled: false },
      broken: { ...prod, tags: ['prod'], idle: 'never ever' },
      spare: { ...spare, enabled: false },
    },
    config: { ...config, policy: { rules: [rule] } },
  });
  const client = await (await home.pipe()).client();
  await waitForTool(client, 'one__echo');
  const listed = async () => structured(await manage(client, 'list'))['servers'];
  expect(await listed()).toMatchObject([{ name: 'one' }, { name: 'spare', state: 'disabled' }]);
  for (const [operation, name] of [
    ['enable', 'prod'],
    ['remove', 'prod'],
    ['update', 'broken'],
  ] as const) {
    const refused = await manage(client, operation, { name, changes: { enabled: true } });
    expect(textOfResult(refused)).toContain(`There is no server "${name}"`);
  }
  const enabled = await manage(client, 'enable', { name: 'spare' });
  expect([structured(enabled)['isHeld'], textOfResult(enabled)]).toEqual([
    true,
    'spare was enabled. It was never approved in this form, so it is held for approval by a person (trunkline approvals).',
  ]);
  expect(gatewayErrorCode(await manage(client, 'restart', { name: 'spare' }))).toBe('QUARANTINED');
  // A server that was in use before returns unchanged.
  await manage(client, 'disable', { name: 'one' });
  expect(structured(await manage(client, 'enable', { name: 'one' }))['isHeld']).toBe(false);
  await waitForTool(client, 'one__echo');
  expect([...fixtureLog(prod).all(), ...fixtureLog(spare).all()]).toEqual([]);
});

test('management tools: wait for a person under an ask rule without showing secrets', async () => {
  const rule = { id: 'ask-me', effect: 'ask', names: ['manage_servers'] };
  const settings = { ...config, policy: { rules: [rule] } };
  await using home = new SharedHome({ mcpServers: { one: fixture('plain') }, config: settings });
  const client = await (await home.pipe()).client();
  const where = ['--config', join(home.home, 'config.jsonc')];
  const server = { command: 'x', env: { KEY: SECRET } };
  const asking = manage(client, 'add', { name: 'two', server });
  const waiting = await eventually(async () => {
    const shown = await home.command('approvals', '--json', ...where);
    const { calls } = JSON.parse(shown.stdout) as { calls: readonly { id: string; name: string }[] };
    return calls[0] !== undefined && { call: calls[0], shown };
  });
  expect(waiting.call.name).toBe('manage_servers');
  expect(waiting.shown.stdout).not.toContain(SECRET);
  expect((await home.command('approve', waiting.call.id, ...where)).code).toBe(0);
  expect(results(await asking)).toMatchObject([{ name: 'two', result: 'added' }]);
  expect(readFileSync(join(home.home, 'config.jsonc'), 'utf8')).toContain(SECRET);
});

test('tool_stats: counts calls and errors per tool', async () => {
  const cell: Cell = { downstream: 'stdio/legacy', upstream: 'stdio/legacy' };
  await using line = await openTestSetup(cell, { one: ['plain'], two: ['plain'] }, { config });
  for (const text of ['a', 'b']) await line.client.callTool('one__echo', { text });
  await line.client.callTool('two__fail');
  const stats = await line.client.callTool('tool_stats', { top: 1 });
  expect(structured(stats)).toMatchObject({
    totals: { tools: 2, calls: 3, errors: 1 },
    tools: [{ name: 'one__echo', server: 'one', calls: 2, errors: 0 }],
  });
});

test('tool_stats: leaves out tools that the caller may not see', async () => {
  const cell: Cell = { downstream: 'stdio/legacy', upstream: 'stdio/legacy' };
  await using line = await openTestSetup(cell, { one: ['plain'], two: ['plain'] }, { config });
  for (const name of ['one__echo', 'one__env', 'two__echo'])
    await line.client.callTool(name, name === 'one__env' ? { names: [] } : { text: 'a' });
  const counted = async (): Promise<object> => structured(await line.client.callTool('tool_stats'));
  expect(await counted()).toMatchObject({ totals: { tools: 3, calls: 3 } });
  expect(await names(line.client)).toContain('two__echo');
  const file = line.gateway.configFile;
  const hidden = { policy: { rules: [{ id: 'r', effect: 'deny', names: ['one__env', 'two__*'] }] } };
  const notification = line.client.notifications.next(isToolListChange);
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...hidden }));
  await notification;
  expect(await names(line.client)).not.toContain('two__echo');
  const stats = await counted();
  expect(stats).toMatchObject({ totals: { tools: 1, calls: 1 }, tools: [{ name: 'one__echo' }] });
  expect(JSON.stringify(stats)).not.toMatch(/env|two/);
});
