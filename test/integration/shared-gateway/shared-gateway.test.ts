import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { isRunning } from '../../support/processes.ts';
import { SharedHome } from '../../support/shared-home.ts';

checkLeaks();

const text = (result: { content?: unknown }): string =>
  (result.content as { text: string }[]).map((part) => part.text).join('');

describe('shared gateway', () => {
  test('shared gateway: starts once, with one process per server, for simultaneous clients', async () => {
    const plain = fixture('plain');
    await using home = new SharedHome({ mcpServers: { plain } });
    const pipes = await Promise.all(Array.from({ length: 8 }, () => home.pipe()));
    const clients = await Promise.all(pipes.map((pipe) => pipe.client()));
    const answers = await Promise.all(clients.map((client) => client.callTool('plain__pid')));
    expect(new Set(answers.map((answer) => JSON.parse(text(answer)).pid)).size).toBe(1);
    expect(home.gateways()).toEqual([home.pid]);
    expect(fixtureLog(plain).of('started')).toHaveLength(1);
    expect(existsSync(join(home.run, 'gateway.lock'))).toBe(false);
  });

  test('shared gateway: restricts its socket and record to its user', async () => {
    await using home = new SharedHome({ mcpServers: { plain: fixture('plain') } });
    await (await home.pipe()).client();
    const { socket } = home.record() ?? { socket: '' };
    const modes = [home.run, join(home.run, 'gateway.json'), socket].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o600, 0o600]);
  });

  test('shared gateway: exits when it stays idle', async () => {
    await using home = new SharedHome({
      mcpServers: { plain: fixture('plain') },
      config: { idleExit: '300ms' },
    });
    const pipe = await home.pipe();
    const client = await pipe.client();
    await client.listTools();
    const { pid } = home;
    const { socket } = home.record() ?? { socket: '' };
    await client.close();
    expect(await pipe.exited).toEqual({ code: 0, signal: null });
    await eventually(() => !isRunning(pid), { what: 'The end of the gateway' });
    expect(home.record()).toBeUndefined();
    expect(existsSync(socket)).toBe(false);
    expect(readFileSync(join(home.home, 'state', 'logs', 'gateway.log'), 'utf8')).toContain(
      'Stopping, since no client is connected.',
    );
  });

  test('shared gateway: applies a changed configuration before it serves the next client', async () => {
    const [plain, more] = [fixture('plain'), fixture('plain')];
    await using home = new SharedHome({ mcpServers: { plain } });
    const first = await (await home.pipe()).client();
    const before = home.pid;
    // Ensures that the gateway has not noticed the change itself before the second client connects.
    const connected = connectionsOf(home);
    process.kill(before, 'SIGSTOP');
    const pipe = await home.pipe({ mcpServers: { plain, more } });
    await eventually(() => connectionsOf(home) > connected || home.gateways().length > 1, {
      what: 'The second client',
      withinMs: 20_000,
    });
    process.kill(before, 'SIGCONT');
    const second = await pipe.client();
    expect([home.pid, home.gateways()]).toEqual([before, [before]]);
    expect(text(await first.callTool('plain__echo', { text: 'old' }))).toBe('old');
    expect(text(await second.callTool('more__echo', { text: 'new' }))).toBe('new');
    expect(text(await first.callTool('more__echo', { text: 'new' }))).toBe('new');
  });

  test('shared gateway: is replaced by a newer version and keeps serving its old clients', async () => {
    await using home = new SharedHome({ mcpServers: { plain: fixture('plain') } });
    const first = await (await home.pipe()).client();
    const before = home.pid;
    // As a gateway of another version writes it.
    writeFileSync(join(home.run, 'gateway.json'), JSON.stringify({ ...home.record(), version: '0.0.0' }));
    const second = await (await home.pipe()).client();
    expect(home.pid).not.toBe(before);
    expect(text(await first.callTool('plain__echo', { text: 'old' }))).toBe('old');
    expect(text(await second.callTool('plain__echo', { text: 'new' }))).toBe('new');
    await first.close();
    await eventually(() => !isRunning(before), { what: 'The end of the old gateway' });
  });

  test('shared gateway: takes over the lock of a dead process', async () => {
    await using home = new SharedHome({ mcpServers: { plain: fixture('plain') } });
    const first = await home.pipe();
    await (await first.client()).close();
    await home.command('stop');
    writeFileSync(join(home.run, 'gateway.lock'), String(first.pid));
    const client = await (await home.pipe()).client();
    expect(await waitForTool(client, 'plain__echo')).not.toHaveLength(0);
  });

  test('shared gateway: reports an invalid configuration to its client with exit code 3', async () => {
    await using home = new SharedHome({ mcpServers: {}, config: { idleExit: 'soon' } });
    const pipe = await home.pipe();
    expect(await pipe.exited).toMatchObject({ code: 3 });
    expect(pipe.stderr()).toContain('config.jsonc:3:');
    // The gateway reports the problem before it exits, and the pipe does not wait for its exit.
    await eventually(() => home.gateways().length === 0, { what: 'The end of the gateway' });
  });

  test('shared gateway: falls back to the process of the client when none can run', async () => {
    await using home = new SharedHome({ mcpServers: { plain: fixture('plain') } });
    // A file instead of the folder of running gateways.
    mkdirSync(join(home.home, 'state'), { mode: 0o700 });
    writeFileSync(join(home.home, 'state', 'run'), '');
    const pipe = await home.pipe();
    const client = await pipe.client();
    expect(text(await client.callTool('plain__echo', { text: 'alone' }))).toBe('alone');
    expect(pipe.stderr()).toContain('this process serves the client itself.');
    expect(home.gateways()).toEqual([]);
  });
});

/** Returns the number of connections to its socket, including those that are not accepted yet. */
function connectionsOf(home: SharedHome): number {
  const socket = String(home.record()?.socket);
  const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
  return lines.filter((line) => line.endsWith(` ${socket}`)).length;
}
