import { spawn } from 'node:child_process';

import { expect } from 'vitest';

import { gatewayErrorCode, serverPid, textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayCommand, gatewayCommand, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { isRunning } from '../../support/processes.ts';
import { fixture } from '../../support/fixture.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

scenario(
  'shutdown: stops the gateway and its servers on SIGTERM and SIGINT with exit code 0',
  { slow: true, downstream: everyLeg },
  async (cell) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      await using line = await cell.open({ one: ['plain'], two: ['plain'] });
      const pids = [await serverPid(line.client, 'one'), await serverPid(line.client, 'two')];
      expect(pids.map(isRunning)).toEqual([true, true]);
      line.gateway.signal(signal);
      expect(await line.gateway.exited).toEqual({ code: 0, signal: null });
      expect(pids.map(isRunning)).toEqual([false, false]);
      // The servers were asked to exit before they were killed.
      for (const log of Object.values(line.logs)) expect(log.of('ended')).toMatchObject([{ by: 'eof' }]);
    }
  },
);

scenario(
  'shutdown: answers running calls before the gateway exits',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] });
    const { client, gateway } = line;
    const calls = [
      client.callTool('one__slow', { ms: 1200, text: 'slow' }),
      client.callTool('one__progress', { steps: 4, ms: 300 }, { meta: { progressToken: 'p' } }),
    ];
    await eventually(() => line.logs['one']?.of('call').length === 2, { what: 'Both calls at the server' });
    gateway.signal('SIGTERM');
    expect((await Promise.all(calls)).map(textOfResult)).toEqual(['slow', '4 steps']);
    expect(client.notifications.all.filter(({ method }) => method === 'notifications/progress')).toHaveLength(
      4,
    );
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  },
);

scenario('shutdown: fails hanging calls with SHUTTING_DOWN at the deadline', async (cell) => {
  await using line = await cell.open({ one: ['hangs-in-calls'] }, { config: { shutdown: '300ms' } });
  const calls = ['a', 'b'].map((text) => line.client.callTool('one__echo', { text }));
  await eventually(() => line.logs['one']?.of('call').length === 2, { what: 'Both calls at the server' });
  line.gateway.signal('SIGTERM');
  // Each call gets an error with the reason.
  expect((await Promise.all(calls)).map(gatewayErrorCode)).toEqual(['SHUTTING_DOWN', 'SHUTTING_DOWN']);
  expect(await line.gateway.exited).toEqual({ code: 0, signal: null });
});

scenario('shutdown: exits at once on a second signal', { slow: true }, async (cell) => {
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    const servers = { one: ['hangs-in-calls'], two: ['ignores-signals'] } as const;
    const line = await cell.open(servers, { config: { shutdown: '10m' } });
    const { client, gateway, logs } = line;
    await serverPid(client, 'two');
    const call = client.callTool('one__echo', { text: 'x' }).catch((error: unknown) => error);
    await logs['one']?.waitFor('call');
    let exit: unknown;
    void gateway.exited.then((how) => (exit = how));
    // The system merges signals in quick succession, so the signal is sent until it has an effect.
    await eventually(() => {
      if (exit === undefined) gateway.signal(signal);
      return exit !== undefined;
    });
    expect(exit).toEqual({ code, signal: null });
    expect(await call).toBeInstanceOf(Error);
    const pids = Object.values(logs).flatMap((log) => log.of('started').map(({ pid }) => pid));
    await eventually(() => !pids.some(isRunning), { what: 'The end of the servers' });
    await line[Symbol.asyncDispose]();
    // The next start removes the records of the servers of this one.
    await using next = await startGateway({ mcpServers: {}, home: gateway.home });
    expect(await (await next.client()).listTools()).toEqual([]);
  }
});

scenario('shutdown: stops several unresponsive servers in parallel', async (cell) => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const servers = Object.fromEntries(names.map((name) => [name, ['ignores-signals'] as const]));
  await using line = await cell.open(servers);
  const pids = await Promise.all(names.map((name) => serverPid(line.client, name)));
  line.gateway.signal('SIGTERM');
  expect(await line.gateway.exited).toEqual({ code: 0, signal: null });
  expect(pids.filter(isRunning)).toEqual([]);
  const ignored = Object.values(line.logs).flatMap((log) => log.of('end-ignored'));
  const times = (of: string): number[] => ignored.filter((event) => event['of'] === of).map(({ at }) => at);
  expect([times('eof').length, times('SIGTERM').length]).toEqual([5, 5]);
  // All servers received their first signal before any received its second, so they are stopped in parallel.
  expect(Math.max(...times('eof'))).toBeLessThan(Math.min(...times('SIGTERM')));
});

scenario(
  'shutdown: stops the gateway and its servers when standard input ends',
  { downstream: ['stdio/legacy', 'stdio/modern'] },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'], two: ['ignores-signals'] });
    const pids = [await serverPid(line.client, 'one'), await serverPid(line.client, 'two')];
    const call = line.client.callTool('one__slow', { ms: 300, text: 'x' }).catch(() => undefined);
    await line.client.close();
    expect(await line.gateway.exited).toEqual({ code: 0, signal: null });
    expect(pids.filter(isRunning)).toEqual([]);
    await call;
  },
);

scenario(
  'shutdown: answers requests received before standard input ended, even on the first start',
  { slow: true },
  async () => {
    const gateway = gatewayCommand({ mcpServers: { one: fixture('plain') }, args: ['--expose', 'search'] });
    // One request at a time: each must keep the gateway running until it is answered. The first start has no cache, the second has one.
    const echoed = await askAndClose(gateway, 'one__echo', { text: 'asked in time' });
    expect(echoed).toContain('asked in time');
    const found = await askAndClose(gateway, 'search_tools', { query: 'echo' });
    expect(found).toContain('one__echo(text: string)');
  },
);

/** Starts a gateway, sends one request, closes its input at once, and returns all its output. */
async function askAndClose(gateway: GatewayCommand, name: string, given: object): Promise<string> {
  const { command, args, env } = gateway;
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  let written = '';
  child.stdout.on('data', (chunk: Buffer) => (written += chunk.toString()));
  const params = { name, arguments: given };
  child.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`);
  expect(await new Promise((done) => child.once('close', done))).toBe(0);
  return written;
}
