import { expect, test } from 'vitest';

import { gatewayErrorCode, serverPid, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { openTestSetup } from '../../support/cell.ts';
import { eventually } from '../../support/eventually.ts';
import type { FixtureEvent } from '../../support/fixture-log.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { isRunning } from '../../support/processes.ts';
import type { RawClient } from '../../support/raw-client.ts';

checkLeaks();

const kills = 30;
const callsEach = 5;

test('killed server: loses only the calls in flight, over 30 kills with two clients', async () => {
  const cell = { downstream: 'http/legacy', upstream: 'stdio/legacy' } as const;
  const line = await openTestSetup(cell, { one: ['plain'], beside: ['plain'] });
  const log = line.logs['one']!;
  const clients = [line.client, await line.another()];
  await waitForTool(line.client, 'one__slow');
  await waitForTool(line.client, 'beside__echo');
  const pids: number[] = [];
  for (let round = 0; round < kills; round += 1) {
    const pid = await serverPid(clients[round % 2]!);
    expect(pids, 'a new process serves').not.toContain(pid);
    pids.push(pid);
    const calls = clients.flatMap((client, of) => callsOf(client, `${round}.${of}`));
    await eventually(() => expect(log.of('call').filter(isOfRound(round))).toHaveLength(calls.length));
    // Calls before the kill, before the gateway notices it, and afterwards.
    const late = clients.map((client, of) => client.callTool('one__echo', { text: `${round}.${of}.late` }));
    process.kill(pid, 'SIGKILL');
    late.push(...clients.map((client, of) => client.callTool('one__echo', { text: `${round}.${of}.later` })));
    const beside = clients.map((client) => client.callTool('beside__echo', { text: String(round) }));
    for (const result of await Promise.all(calls)) {
      expect(gatewayErrorCode(result)).toBe('UPSTREAM_CLOSED');
      expect(textOfResult(result)).toContain('"one" was ended by SIGKILL');
    }
    for (const result of await Promise.all(late)) {
      if (result.isError === true) expect(gatewayErrorCode(result)).toBe('UPSTREAM_CLOSED');
      else expect(textOfResult(result)).toMatch(new RegExp(`^${round}\\.\\d\\.later?$`));
    }
    expect((await Promise.all(beside)).map(textOfResult)).toEqual([String(round), String(round)]);
  }
  pids.push(await serverPid(line.client));
  // One more process than kills; each call reached one process at most once.
  expect(log.of('started').map(({ pid }) => pid)).toEqual(pids);
  expect(pids).toHaveLength(kills + 1);
  const marks = log
    .of('call')
    .map(markOf)
    .filter((mark) => mark !== undefined);
  expect(new Set(marks).size).toBe(marks.length);
  expect(marks.length).toBeGreaterThanOrEqual(kills * callsEach * clients.length);
  await eventually(() => expect(pids.filter(isRunning)).toEqual(pids.slice(-1)));
  expect(line.logs['beside']?.of('started')).toHaveLength(1);
  await line[Symbol.asyncDispose]();
  expect(pids.filter(isRunning)).toEqual([]);
});

function callsOf(client: RawClient, mark: string): readonly ReturnType<RawClient['callTool']>[] {
  return Array.from({ length: callsEach }, (_, index) =>
    client.callTool('one__slow', { ms: 60_000, text: `${mark}.${index}` }),
  );
}

function markOf({ arguments: args }: FixtureEvent): string | undefined {
  return (args as { text?: string } | undefined)?.text;
}

function isOfRound(round: number): (call: FixtureEvent) => boolean {
  return (call) => call['tool'] === 'slow' && markOf(call)?.startsWith(`${round}.`) === true;
}
