import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { gatewayErrorCode, textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { sharedPostgres } from '../../support/postgres.ts';
import { isRunning } from '../../support/processes.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { startFleet } from './fleet.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

const slow = { withinMs: 40_000 };

/** Returns the ids of the gateways that run the program for these clients. */
async function startedBy(clients: readonly RawClient[]): Promise<readonly number[]> {
  const answers = await Promise.all(clients.map((client) => client.callTool('it__who', {}, slow)));
  const texts = answers.map((answer) => textOfResult(answer));
  for (const text of texts) expect(text).toMatch(/^\d+\n$/);
  return [...new Set(texts.map(Number))];
}

test('fleet share: runs a CLI program at one gateway and moves when that is killed', async () => {
  const log = join(temporaryFolder('programs'), 'runs');
  const runs = (): readonly number[] =>
    existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').map(Number) : [];
  const tools = [
    { name: 'who', args: ['-c', 'echo $PPID'] },
    { name: 'wait', args: ['-c', `echo $$ >> '${log}'; exec sleep 60`] },
  ];
  const it = { command: 'sh', cli: { tools }, share: 'fleet' };
  await using fleet = await startFleet(3, { mcpServers: { it } });
  const clients = await Promise.all(fleet.replicas.map((replica) => replica.client()));
  const [first, ...more] = await startedBy(clients.flatMap((client) => [client, client]));
  expect(more).toEqual([]);
  const owner = fleet.replicas.findIndex(({ pid }) => pid === first);
  expect(owner).not.toBe(-1);
  const others = clients.filter((_, at) => at !== owner);
  const waiting = others[0]!.callTool('it__wait', {}, slow);
  const { home = '', pid = 0 } = fleet.replicas[owner] ?? {};
  const noted = join(home, 'state', 'run', `children-${pid}.json`);
  // The gateway must have recorded the program before it is killed; otherwise nothing could end the program.
  await eventually(() => runs().length === 1 && readFileSync(noted, 'utf8').includes(`[${runs()[0]},`), slow);
  await fleet.replicas[owner]?.kill();
  const answer = await waiting;
  expect(gatewayErrorCode(answer), textOfResult(answer)).toBe('UPSTREAM_CLOSED');
  // The other gateways notice the loss at different times.
  const [next, ...none] = await eventually(() => startedBy(others), slow);
  expect(none).toEqual([]);
  expect(fleet.replicas.map(({ pid }) => pid).filter((pid) => pid !== first)).toContain(next);
  // The program was not run again, and the running one has ended with its gateway.
  expect(runs()).toHaveLength(1);
  await eventually(() => runs().filter(isRunning).length === 0, slow);
  for (const client of clients) await client.close();
});
