import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { askSocket } from '../support/admin-socket.ts';
import { pidOf, said, untilListed } from '../support/asking.ts';
import { commandHome } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { fixture, fixtureLog } from '../support/fixture.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { SharedHome } from '../support/shared-home.ts';

checkLeaks();

const config = { startup: { listWait: '10s' } };

test('commands change servers through the gateway that runs, and nothing else is touched', async () => {
  await using home = new SharedHome({ mcpServers: { one: fixture('plain') }, config });
  const client = await (await home.pipe()).client();
  await untilListed(client, 'one__echo');
  const [pid, gateway] = [await pidOf(client, 'one'), home.pid];
  const two = fixture('plain');
  const where = ['--config', join(home.home, 'config.jsonc')];
  const env = Object.entries(two.env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const added = await home.command('add', 'two', '--trust', ...env, ...where, '--', two.command, ...two.args);
  expect(added.code).toBe(0);
  expect(added.stderr).toContain('The running gateway has taken up the change.');
  await untilListed(client, 'two__echo');
  expect(said(await client.callTool('two__echo', { text: 'x' }))).toBe('x');
  expect((await home.command('disable', 'two', ...where)).stderr).toContain(
    'The running gateway has taken up the change.',
  );
  expect((await client.listTools()).some(({ name }) => name === 'two__echo')).toBe(false);
  expect((await home.command('enable', 'two', ...where)).code).toBe(0);
  await untilListed(client, 'two__echo');
  expect((await home.command('remove', 'two', ...where)).code).toBe(0);
  await eventually(async () => !(await client.listTools()).some(({ name }) => name === 'two__echo'));
  // Without a terminal and without a word about trust, it waits.
  const held = fixture('plain');
  await home.command('add', 'three', ...where, '--', held.command, ...held.args);
  expect(JSON.parse((await home.command('servers', '--json', ...where)).stdout)).toMatchObject([
    { name: 'one' },
    { name: 'three', problem: { code: 'QUARANTINED' } },
  ]);
  expect(fixtureLog(held).all()).toEqual([]);
  expect([await pidOf(client, 'one'), home.pid]).toEqual([pid, gateway]);
  const records = JSON.parse(
    (await home.command('logs', '--kind', 'config', '--json', ...where)).stdout,
  ) as readonly {
    action: string;
    server: string;
  }[];
  const servers = records.filter(({ server }) => server !== undefined);
  expect(servers.map(({ action, server }) => `${action} ${server}`)).toEqual([
    ...['add two', 'disable two', 'enable two', 'remove two', 'add three'],
  ]);
}, 90_000);

describe('without a gateway', () => {
  test('commands do the same, and leave the same record', async () => {
    const home = commandHome({ one: fixture('plain') });
    expect((await home.run(['disable', 'one'])).code).toBe(0);
    expect((await home.run(['disable', 'one'])).stdout).toContain('"changed": false');
    expect((await home.run(['add', 'two', '--url', 'https://example.com/mcp'])).code).toBe(0);
    expect((await home.run(['remove', 'nobody'])).code).toBe(6);
    const records = await home.json(['logs', '--kind', 'config']);
    expect(records).toMatchObject([
      { action: 'disable', server: 'one', caller: 'cli' },
      { action: 'add', server: 'two' },
    ]);
  });

  test('a file that is changed by hand alone is not changed', async () => {
    const home = commandHome({ one: fixture('plain') });
    const file = join(home.home, 'config.jsonc');
    const text = readFileSync(file, 'utf8').replace('{', '{ "readOnly": true,');
    writeFileSync(file, text);
    for (const line of [
      ['disable', 'one'],
      ['remove', 'one'],
      ['add', 'two', '--url', 'https://example.com'],
    ]) {
      const { code, stderr } = await home.run(line);
      expect([line[0], code]).toEqual([line[0], 6]);
      expect(stderr).toContain('CONFIG_READ_ONLY');
    }
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});

test('a server that fails is tried again with growing pauses that can be seen, and a person begins anew', async () => {
  let asked = 0;
  const closed = createServer((_, response) => {
    asked++;
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
  });
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  const mcpServers = { broken: fixture('dies-at-start'), shut: { url: `http://127.0.0.1:${port}/mcp` } };
  await using home = new SharedHome({ mcpServers, config: { startup: { listWait: '0s' } } });
  await (await home.pipe()).client();
  const where = ['--config', join(home.home, 'config.jsonc')];
  interface Shown {
    readonly name: string;
    readonly state: string;
    readonly problem?: { readonly attempts?: number; readonly retryAt?: number };
  }
  const shown = async (name: string): Promise<Shown | undefined> => {
    const { body } = await askSocket(home.record()?.socket ?? '', 'GET /api/servers');
    return (body as readonly Shown[]).find((each) => each.name === name);
  };
  const waiting = await eventually(
    async () => {
      const broken = await shown('broken');
      return broken !== undefined && (broken.problem?.attempts ?? 0) >= 4 && broken;
    },
    { withinMs: 30_000 },
  );
  expect(waiting).toMatchObject({ state: 'waiting', problem: { code: 'UPSTREAM_UNAVAILABLE' } });
  expect(waiting.problem?.retryAt).toBeGreaterThan(Date.now() - 60_000);
  expect((await home.command('servers', '--text', ...where)).stdout).toMatch(/tried \d+ times, again in/);
  await askSocket(home.record()?.socket ?? '', 'POST /api/servers/broken/restart');
  const anew = await eventually(async () => (await shown('broken'))?.problem?.attempts ?? false);
  expect(anew).toBeLessThan(waiting.problem?.attempts ?? 0);
  const lines = await home.command('logs', '--process', 'broken', '--text', ...where);
  expect(lines.stdout).toContain('FIXTURE_KEY is not set');
  expect(lines.stdout).toContain('Cannot connect to a server.');
  // Waiting does not mend a missing sign-in: it was tried at the start, and never again.
  const parked = await shown('shut');
  expect(parked).toMatchObject({ state: 'needs-auth', problem: { code: 'UPSTREAM_NEEDS_AUTH' } });
  expect(parked?.problem).not.toHaveProperty('retryAt');
  expect(parked?.problem).not.toHaveProperty('attempts');
  const before = asked;
  await eventually(async () => ((await shown('broken'))?.problem?.attempts ?? 0) >= 3, { withinMs: 30_000 });
  expect(asked).toBe(before);
  await new Promise((resolve) => closed.close(resolve));
}, 90_000);
