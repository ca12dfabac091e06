import { setMaxListeners } from 'node:events';

import { expect, test } from 'vitest';

import { gatewayErrorCode, serverPid, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { openTestSetup } from '../../support/cell.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { isRunning } from '../../support/processes.ts';

checkLeaks();

const texts = Array.from({ length: 100 }, (_, index) => `call ${index}`);
/** More calls than one server may run at once, and together larger than its pipe buffer. */
const stuckCalls = 80;
const large = 'x'.repeat(20_000);

test.each(['stdio/legacy', 'http/legacy'] as const)(
  'hung servers: do not delay calls to a healthy server over %s',
  async (downstream) => {
    const cell = { downstream, upstream: 'stdio/legacy' } as const;
    await using line = await openTestSetup(cell, {
      hung: ['hangs-in-calls'],
      stopped: ['plain'],
      silent: ['never-answers'],
      good: ['plain'],
    });
    const { client } = line;
    for (const name of ['hung', 'stopped', 'good']) await waitForTool(client, `${name}__echo`);
    const stoppedPid = await serverPid(client, 'stopped');
    process.kill(stoppedPid, 'SIGSTOP');
    const giveUp = new AbortController();
    setMaxListeners(0, giveUp.signal);
    let answered = 0;
    const callStuck = (name: string): Promise<readonly unknown[]> => {
      const call = async (): Promise<unknown> => {
        const options = { signal: giveUp.signal, withinMs: 60_000 };
        const result = await client.callTool(`${name}__echo`, { text: large }, options);
        answered += 1;
        return gatewayErrorCode(result) ?? textOfResult(result);
      };
      return Promise.all(Array.from({ length: stuckCalls }, () => call().catch(() => 'given up')));
    };
    const [hung, stopped, silent] = [callStuck('hung'), callStuck('stopped'), callStuck('silent')];
    for (let at = 0; at < texts.length; at += 10) {
      const some = texts.slice(at, at + 10);
      const results = await Promise.all(some.map((text) => client.callTool('good__echo', { text })));
      expect(results.map(textOfResult)).toEqual(some);
    }
    const tools = await client.listTools();
    expect(new Set(tools.map(({ name }) => name.split('__')[0]))).toEqual(
      new Set(['hung', 'stopped', 'good']),
    );
    expect(answered, 'all of that while the others hung').toBe(0);

    // A suspended process continues where it was.
    process.kill(stoppedPid, 'SIGCONT');
    expect(new Set(await stopped)).toEqual(new Set([large]));
    expect(await serverPid(client, 'stopped')).toBe(stoppedPid);
    giveUp.abort();
    expect(new Set([...(await hung), ...(await silent)])).toEqual(new Set(['given up']));
    expect(textOfResult(await client.callTool('good__echo', { text: 'after' }))).toBe('after');
  },
);

test('shutdown: ends suspended servers', async () => {
  const cell = { downstream: 'stdio/legacy', upstream: 'stdio/legacy' } as const;
  const line = await openTestSetup(cell, { one: ['plain'], two: ['plain'] });
  for (const name of ['one', 'two']) process.kill(await serverPid(line.client, name), 'SIGSTOP');
  await line[Symbol.asyncDispose]();
  expect(await line.gateway.exited).toEqual({ code: 0, signal: null });
});

test('shutdown: ends unresponsive servers in parallel', async () => {
  const cell = { downstream: 'stdio/legacy', upstream: 'stdio/legacy' } as const;
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const line = await openTestSetup(
    cell,
    Object.fromEntries(names.map((name) => [name, ['ignores-signals'] as const])),
  );
  const pids = await Promise.all(names.map((name) => serverPid(line.client, name)));
  // Ending a server takes two seconds; one after the other, they would take sixteen.
  await line.gateway.stop({ withinMs: 12_000 });
  expect(pids.filter(isRunning)).toEqual([]);
  await line[Symbol.asyncDispose]();
});
