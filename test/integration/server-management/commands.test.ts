import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { requestOverSocket } from '../../support/admin-socket.ts';
import { serverPid, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { commandHome } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { SharedHome } from '../../support/shared-home.ts';

checkLeaks();

const config = { startup: { listWait: '60s' } };

test(
  'commands: change servers through the running gateway without restarting others',
  { tags: ['slow'] },
  async () => {
    await using home = new SharedHome({ mcpServers: { one: fixture('plain') }, config });
    const client = await (await home.pipe()).client();
    await waitForTool(client, 'one__echo');
    const [pid, gateway] = [await serverPid(client, 'one'), home.pid];
    const two = fixture('plain');
    const where = ['--config', join(home.home, 'config.jsonc')];
    const env = Object.entries(two.env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    const added = await home.command(
      'add',
      'two',
      '--trust',
      ...env,
      ...where,
      '--',
      two.command,
      ...two.args,
    );
    expect(added.code).toBe(0);
    expect(added.stderr).toContain('The running gateway has applied the change.');
    await waitForTool(client, 'two__echo');
    expect(textOfResult(await client.callTool('two__echo', { text: 'x' }))).toBe('x');
    expect((await home.command('disable', 'two', ...where)).stderr).toContain(
      'The running gateway has applied the change.',
    );
    expect((await client.listTools()).some(({ name }) => name === 'two__echo')).toBe(false);
    expect((await home.command('enable', 'two', ...where)).code).toBe(0);
    await waitForTool(client, 'two__echo');
    expect((await home.command('remove', 'two', ...where)).code).toBe(0);
    await eventually(async () => !(await client.listTools()).some(({ name }) => name === 'two__echo'));
    // Without a terminal and without --trust, the server is held for approval.
    const held = fixture('plain');
    await home.command('add', 'three', ...where, '--', held.command, ...held.args);
    expect(JSON.parse((await home.command('servers', '--json', ...where)).stdout)).toMatchObject([
      { name: 'one' },
      { name: 'three', problem: { code: 'QUARANTINED' } },
    ]);
    expect(fixtureLog(held).all()).toEqual([]);
    expect([await serverPid(client, 'one'), home.pid]).toEqual([pid, gateway]);
    const records = JSON.parse(
      (await home.command('logs', '--kind', 'config', '--json', ...where)).stdout,
    ) as readonly {
      action: string;
      server: string;
    }[];
    const servers = records.filter(({ server }) => server !== undefined);
    expect(servers.map(({ action, server }) => `${action} ${server}`)).toEqual([
      'add two',
      'disable two',
      'enable two',
      'remove two',
      'add three',
    ]);
  },
);

describe('commands without a gateway', () => {
  test('commands: change servers and record it without a running gateway', { tags: ['slow'] }, async () => {
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

  test('commands: do not change a read-only config', async () => {
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

test(
  'failing server: is retried with growing, visible pauses that a restart resets',
  { tags: ['slow'] },
  async () => {
    let requests = 0;
    const closed = createServer((_, response) => {
      requests++;
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    });
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    const mcpServers = { broken: fixture('dies-at-start'), shut: { url: `http://127.0.0.1:${port}/mcp` } };
    await using home = new SharedHome({ mcpServers, config: { startup: { listWait: '0s' } } });
    await (await home.pipe()).client();
    const where = ['--config', join(home.home, 'config.jsonc')];
    interface ServerView {
      readonly name: string;
      readonly state: string;
      readonly problem?: { readonly attempts?: number; readonly retryAt?: number };
    }
    const readServer = async (name: string): Promise<ServerView | undefined> => {
      const { body } = await requestOverSocket(home.record()?.socket ?? '', 'GET /api/servers');
      return (body as readonly ServerView[]).find((server) => server.name === name);
    };
    const failing = await eventually(
      async () => {
        const broken = await readServer('broken');
        return broken?.state === 'waiting' && (broken.problem?.attempts ?? 0) >= 4 && broken;
      },
      { withinMs: 30_000 },
    );
    expect(failing).toMatchObject({ state: 'waiting', problem: { code: 'UPSTREAM_UNAVAILABLE' } });
    expect(failing.problem?.retryAt).toBeGreaterThan(Date.now() - 60_000);
    expect((await home.command('servers', '--text', ...where)).stdout).toMatch(
      /failed \d+ times, (next attempt in|retrying now)/,
    );
    await requestOverSocket(home.record()?.socket ?? '', 'POST /api/servers/broken/restart');
    const attempts = await eventually(async () => (await readServer('broken'))?.problem?.attempts ?? false);
    expect(attempts).toBeLessThan(failing.problem?.attempts ?? 0);
    const lines = await home.command('logs', '--process', 'broken', '--text', ...where);
    expect(lines.stdout).toContain('FIXTURE_KEY is not set');
    expect(lines.stdout).toContain('Cannot connect to a server.');
    // Retries cannot fix a missing sign-in, so there was only one attempt, at the start.
    const parked = await readServer('shut');
    expect(parked).toMatchObject({ state: 'needs-auth', problem: { code: 'UPSTREAM_NEEDS_AUTH' } });
    expect(parked?.problem).not.toHaveProperty('retryAt');
    expect(parked?.problem).not.toHaveProperty('attempts');
    const before = requests;
    await eventually(async () => ((await readServer('broken'))?.problem?.attempts ?? 0) >= 3, {
      withinMs: 30_000,
    });
    expect(requests).toBe(before);
    await new Promise((resolve) => closed.close(resolve));
  },
);
