import { expect } from 'vitest';

import { gatewayErrorCode, serverPid, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

scenario(
  'crash: fails all running calls at once with the exit code and the last stderr line',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'], half: ['dies-in-a-call', '--half'] });
    const { client } = line;
    // Both would take longer than the client, which gives up after ten seconds.
    const others = [1, 2].map((n) => client.callTool('one__slow', { ms: 60_000, text: String(n) }));
    await line.logs['one']!.waitFor(() => line.logs['one']!.of('call').length === 2);
    const results = await Promise.all([client.callTool('one__crash'), ...others]);
    for (const result of results) {
      expect(gatewayErrorCode(result)).toBe('UPSTREAM_CLOSED');
      expect(textOfResult(result)).toContain('"one" exited with code 7');
      expect(textOfResult(result)).toContain('fixture: crashing as asked');
      expect(textOfResult(result)).toContain('the request may or may not have been executed');
    }
    expect(gatewayErrorCode(await client.callTool('half__echo', { text: 'a' }))).toBe('UPSTREAM_CLOSED');
  },
);

scenario('crash: restarts the server on the next call', async (cell) => {
  await using line = await cell.open({ one: ['plain'], young: ['plain'] });
  const { client } = line;
  const log = line.logs['one']!;
  const pids = new Set<number>();
  for (let round = 0; round < 3; round += 1) {
    pids.add(await serverPid(client));
    expect(gatewayErrorCode(await client.callTool('one__crash'))).toBe('UPSTREAM_CLOSED');
  }
  pids.add(await serverPid(client));
  expect([...pids]).toEqual(log.of('started').map(({ pid }) => pid));
  expect(pids.size).toBe(4);
  // The same for a server that crashes in its first call.
  await waitForTool(client, 'young__crash');
  expect(gatewayErrorCode(await client.callTool('young__crash'))).toBe('UPSTREAM_CLOSED');
  expect(textOfResult(await client.callTool('young__echo', { text: 'back' }))).toBe('back');
  expect(line.logs['young']?.of('started')).toHaveLength(2);
});

scenario('crash: never resends a call that may have been executed', async (cell) => {
  await using line = await cell.open({ one: ['dies-in-a-call'] });
  await waitForTool(line.client, 'one__echo');
  const texts = ['a', 'b', 'c'];
  for (const text of texts) {
    expect(gatewayErrorCode(await line.client.callTool('one__echo', { text }))).toBe('UPSTREAM_CLOSED');
  }
  const calls = line.logs['one']?.of('call') ?? [];
  expect(calls.map(({ arguments: args }) => args)).toEqual(texts.map((text) => ({ text })));
  expect(line.logs['one']?.of('started')).toHaveLength(3);
});

scenario(
  'connection loss: never resends an HTTP call that was in flight',
  { upstream: ['http/legacy'] },
  async (cell) => {
    // The connections break but the server keeps running, so a repeated call would reach it.
    await using proxy = await startTcpProxy();
    const entries = {
      one: ({ url }: Readonly<Record<string, unknown>>) => ({ url: proxy.forwardTo(String(url)) }),
    };
    await using line = await cell.open({ one: ['plain'] }, { entries });
    await waitForTool(line.client, 'one__echo');
    const log = line.logs['one']!;
    for (const text of ['a', 'b', 'c']) {
      const call = line.client.callTool('one__slow', { ms: 60_000, text });
      await log.waitFor(({ event, arguments: args }) => event === 'call' && isSaying(args, text));
      proxy.cut();
      expect((await call).isError).toBe(true);
      expect(textOfResult(await line.client.callTool('one__echo', { text }))).toBe(text);
    }
    const slow = log.of('call').filter(({ tool }) => tool === 'slow');
    expect(slow.map(({ arguments: args }) => args)).toEqual(
      ['a', 'b', 'c'].map((text) => ({ ms: 60_000, text })),
    );
  },
);

function isSaying(args: unknown, text: string): boolean {
  return (args as { text?: unknown } | undefined)?.text === text;
}
