import { expect, test } from 'vitest';

import { gatewayErrorCode, serverPid, textOfResult } from '../../support/client-helpers.ts';
import { openTestSetup } from '../../support/cell.ts';
import { eventually } from '../../support/eventually.ts';
import type { FixtureEvent, FixtureLog } from '../../support/fixture-log.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';

checkLeaks();

const cell = { downstream: 'stdio/legacy', upstream: 'stdio/legacy' } as const;
const rounds = 5;

/** Returns the texts of all calls that reached any process of the server. */
function echoes(log: FixtureLog | undefined): readonly unknown[] {
  const calls = log?.of('call').filter(({ tool }) => tool === 'echo') ?? [];
  return calls.map(({ arguments: args }) => (args as { text: string }).text);
}

/** Sends a call, and resolves once the gateway has written it: a later call to another server has been answered. */
async function sent(
  client: RawClient,
  text: string,
): Promise<{ readonly result: ReturnType<RawClient['callTool']> }> {
  const result = client.callTool('one__echo', { text });
  result.catch(() => {}); // The caller checks it later.
  await client.callTool('beside__echo', { text: 'beside' });
  return { result };
}

test.runIf(process.platform === 'linux')(
  'unread call: is executed once by the next process of a killed server',
  async () => {
    await using line = await openTestSetup(cell, { one: ['plain'], beside: ['plain'] });
    const { client, logs } = line;
    for (let round = 0; round < rounds; round += 1) {
      const pid = await serverPid(client);
      // Suspended, so that it reads nothing.
      process.kill(pid, 'SIGSTOP');
      const { result } = await sent(client, `unread ${round}`);
      process.kill(pid, 'SIGKILL');
      expect(textOfResult(await result)).toBe(`unread ${round}`);
      expect(await serverPid(client)).not.toBe(pid);
    }
    expect(echoes(logs['one'])).toEqual(Array.from({ length: rounds }, (_, round) => `unread ${round}`));
    expect(logs['one']?.of('started')).toHaveLength(rounds + 1);
  },
);

test.runIf(process.platform === 'linux')(
  'unread call: is resent only when it was the last one sent',
  async () => {
    await using line = await openTestSetup(cell, { one: ['plain'], beside: ['plain'] });
    const { client, logs } = line;
    const pid = await serverPid(client);
    process.kill(pid, 'SIGSTOP');
    const first = await sent(client, 'first');
    const last = await sent(client, 'last');
    process.kill(pid, 'SIGKILL');
    expect(gatewayErrorCode(await first.result)).toBe('UPSTREAM_CLOSED');
    expect(textOfResult(await last.result)).toBe('last');
    expect(echoes(logs['one'])).toEqual(['last']);
  },
);

test('read call: is not resent after its server was killed', async () => {
  await using line = await openTestSetup(cell, { one: ['plain'], beside: ['plain'] });
  const { client, logs } = line;
  const pid = await serverPid(client);
  const slow = client.callTool('one__slow', { ms: 60_000, text: 'read' });
  const isSlow = (call: FixtureEvent): boolean => call['tool'] === 'slow';
  await eventually(() => logs['one']?.of('call').some(isSlow) === true);
  process.kill(pid, 'SIGKILL');
  expect(gatewayErrorCode(await slow)).toBe('UPSTREAM_CLOSED');
  expect(await serverPid(client)).not.toBe(pid);
  expect(logs['one']?.of('call').filter(isSlow)).toHaveLength(1);
});

test('restarting server: lets new calls wait until it is ready', async () => {
  await using line = await openTestSetup(cell, { one: ['slow-start', '--ms', '700'], beside: ['plain'] });
  const { client, logs } = line;
  for (let round = 0; round < 2; round += 1) {
    const pid = await serverPid(client);
    process.kill(pid, 'SIGKILL');
    // Once the gateway has noticed, new calls find no process.
    await eventually(() => line.gateway.stderr().split('Lost the connection').length > round + 1);
    const calls = [1, 2, 3].map((at) => client.callTool('one__echo', { text: `${round}.${at}` }));
    const texts = (await Promise.all(calls)).map(textOfResult);
    expect(texts).toEqual([`${round}.1`, `${round}.2`, `${round}.3`]);
  }
  expect(logs['one']?.of('started')).toHaveLength(3);
});
