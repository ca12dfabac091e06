import { describe, expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { isRunning } from '../../support/processes.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { SharedHome } from '../../support/shared-home.ts';

checkLeaks();

const text = (result: { content?: unknown }): string =>
  (result.content as { text: string }[]).map((part) => part.text).join('');
const pidOf = async (client: RawClient): Promise<number> =>
  JSON.parse(text(await client.callTool('own__pid'))).pid;

describe('session share', () => {
  test.each(['legacy', 'modern'] as const)(
    'session share: starts one process per %s client and ends it with the client',
    async (era) => {
      await using home = new SharedHome({ mcpServers: { own: { ...fixture('plain'), share: 'session' } } });
      const [one, two] = [await home.pipe(), await home.pipe()];
      const clients = [await one.client({ era }), await two.client({ era })] as const;
      const [first, second] = await Promise.all(clients.map(pidOf));
      expect(first).not.toBe(second);
      expect(await pidOf(clients[0])).toBe(first);
      await clients[0].close();
      await eventually(() => !isRunning(first ?? 0), { what: 'The end of the process of the first client' });
      expect(await pidOf(clients[1])).toBe(second);
    },
  );

  test(
    'session share: ends the listing process and stays ready while a session uses the server',
    { tags: ['slow'] },
    async () => {
      const own = fixture('plain');
      await using home = new SharedHome({ mcpServers: { own: { ...own, share: 'session' } } });
      const clients = await Promise.all([1, 2].map(async () => (await home.pipe()).client()));
      const pids = await Promise.all(clients.map(pidOf));
      const running = (): readonly number[] =>
        fixtureLog(own)
          .of('started')
          .map(({ pid }) => Number(pid))
          .filter(isRunning);
      await eventually(() => running().length === 2, { what: 'The end of the process that was listed' });
      expect(new Set(running())).toEqual(new Set(pids));
      const { stdout } = await home.command('servers', '--json');
      expect(JSON.parse(stdout)).toMatchObject([{ name: 'own', state: 'ready' }]);
    },
  );

  test('session share: reassigns the process of an idle session and never that of a busy one', async () => {
    const own = fixture('plain');
    await using home = new SharedHome({
      mcpServers: { own: { ...own, share: 'session', limits: { sessions: 2 } } },
    });
    const [a, b, c] = await Promise.all([1, 2, 3].map(async () => (await home.pipe()).client()));
    if (a === undefined || b === undefined || c === undefined) throw new Error('Three were started.');
    const first = await pidOf(a);
    const second = await pidOf(b);
    const busy = new AbortController();
    const slow = a.callTool('own__slow', { ms: 60_000 }, { signal: busy.signal, withinMs: 60_000 });
    slow.catch(() => {}); // It is cancelled below.
    await fixtureLog(own).waitFor(
      ({ event, pid, tool }) => event === 'call' && pid === first && tool === 'slow',
    );
    const third = await pidOf(c);
    await eventually(() => !isRunning(second), { what: 'The end of the process of the idle session' });
    expect([isRunning(first), isRunning(third)]).toEqual([true, true]);
    const alsoSlow = c.callTool('own__slow', { ms: 60_000 }, { signal: busy.signal, withinMs: 60_000 });
    alsoSlow.catch(() => {}); // It is cancelled below.
    await fixtureLog(own).waitFor(
      ({ event, pid, tool }) => event === 'call' && pid === third && tool === 'slow',
    );
    expect(await b.callTool('own__pid')).toMatchObject({
      isError: true,
      _meta: { 'trunkline/code': 'UPSTREAM_BUSY' },
    });
    busy.abort();
    await expect(slow).rejects.toThrow('cancelled');
  });
});

describe('commands', () => {
  test('commands: give the same output with and without a gateway', { tags: ['slow'] }, async () => {
    await using home = new SharedHome({ mcpServers: { plain: fixture('plain') } });
    const pipe = await home.pipe();
    await (await pipe.client()).listTools();
    const commands = [
      ['tools', '--json'],
      ['describe', 'plain__echo', '--json'],
      ['call', 'plain__echo', 'text=hi', '--json'],
      ['call', 'plain__fail', '--json'],
      ['call', 'plain__ecco', '--json'],
      ['call', 'plain__add', 'a=x', '--json'],
    ];
    const ask = async () => {
      const answers = [];
      for (const command of commands) answers.push(await home.command(...command));
      return answers;
    };
    const withGateway = await ask();
    await home.command('stop');
    expect(home.gateways()).toEqual([]);
    const without = await ask();
    expect(without).toEqual(withGateway);
    expect(without.map(({ code }) => code)).toEqual([0, 0, 0, 8, 6, 2]);
    expect(home.gateways()).toEqual([]);
  });

  test('commands: use the running gateway instead of starting servers', async () => {
    const plain = fixture('plain');
    await using home = new SharedHome({ mcpServers: { plain } });
    const client = await (await home.pipe()).client();
    await client.callTool('plain__echo', { text: 'x' });
    const { stdout } = await home.command('call', 'plain__pid', '--json');
    const started = fixtureLog(plain).of('started');
    expect(started).toHaveLength(1);
    expect(stdout).toContain(String(started[0]?.pid));
    const status = JSON.parse((await home.command('status', '--json')).stdout);
    expect(status).toMatchObject({ running: true, kind: 'background', clients: 1, pid: home.pid });
  });

  test('call command: reports GATEWAY_LOST when the gateway dies', async () => {
    const plain = fixture('plain');
    await using home = new SharedHome({ mcpServers: { plain } });
    const pipe = await home.pipe();
    await pipe.client();
    const outcome = home.command('call', 'plain__slow', 'ms:=60000', '--json');
    await fixtureLog(plain).waitFor('call');
    const killed = home.pid;
    process.kill(killed, 'SIGKILL');
    const { code, stderr } = await outcome;
    expect({ code, problem: JSON.parse(stderr).code }).toEqual({ code: 4, problem: 'GATEWAY_LOST' });
    // The pipe starts a successor, which removes the files of the killed gateway.
    await eventually(() => home.record() !== undefined && home.pid !== killed, { what: 'A new gateway' });
  });

  test('call command: cancels the call on SIGINT', async () => {
    const plain = fixture('plain');
    await using home = new SharedHome({ mcpServers: { plain } });
    await (await home.pipe()).client();
    const { spawn } = await import('node:child_process');
    const main = new URL('../../../dist/main.js', import.meta.url).pathname;
    const child = spawn(process.execPath, [main, 'call', 'plain__slow', 'ms:=60000'], {
      env: { ...process.env, TRUNKLINE_HOME: home.home },
      stdio: 'ignore',
    });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    await fixtureLog(plain).waitFor('call');
    child.kill('SIGINT');
    await fixtureLog(plain).waitFor('cancelled');
    expect(await exited).toBe(130);
  });
});

describe('HTTP gateway', () => {
  test('HTTP gateway: also serves stdio clients and commands of its user', async () => {
    const plain = fixture('plain');
    await using home = new SharedHome({ mcpServers: { plain } });
    await using http = await startGateway({ mcpServers: { plain }, home: home.home, listen: 'http' });
    expect(home.pid).toBe(http.pid);
    const client = await (await home.pipe()).client();
    expect(text(await client.callTool('plain__echo', { text: 'hi' }))).toBe('hi');
    expect(home.gateways()).toEqual([]);
    const status = JSON.parse((await home.command('status', '--json')).stdout);
    expect(status).toMatchObject({ kind: 'http', url: http.url, clients: 1 });
    await client.close();
  });
});
