import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { listToolNamesAt } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { sharedPostgres } from '../../support/postgres.ts';
import { runningProcesses } from '../../support/processes.ts';
import { login, startProtectedServer } from '../../support/protected-server.ts';
import { queryPostgres } from '../../support/query-postgres.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { startFleet } from './fleet.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

const patience = { withinMs: 60_000 };

/** Returns the stored sign-in, which changes with each write because it is encrypted with a new nonce. */
async function readStoredSignIn(url: string): Promise<string> {
  const rows = await queryPostgres<{ body: string }>(url, 'select body from sign_ins');
  return rows.map(({ body }) => body).join('\n');
}

test('server listing: is done by one gateway for all, and by another when that one is killed', async () => {
  const mayAnswer = join(temporaryFolder('listing'), 'now');
  const slow = fixture('slow-start', '--until', mayAnswer);
  const log = fixtureLog(slow);
  const startup = { listWait: '100ms', refresh: '60s' };
  await using fleet = await startFleet(3, { mcpServers: { slow }, config: { startup } });
  const { pid } = await log.waitFor('started', patience);
  const parent = runningProcesses().find((process) => process.pid === pid)?.parent;
  const lister = fleet.replicas.findIndex((replica) => replica.pid === parent);
  expect(lister).not.toBe(-1);
  await fleet.replicas[lister]?.kill();
  await eventually(() => log.of('started').length === 2, patience);
  writeFileSync(mayAnswer, '');
  for (const { url } of fleet.replicas.filter((_, at) => at !== lister))
    await eventually(async () => expect(await listToolNamesAt(url)).toContain('slow__echo'), patience);
  // The third gateway uses the listing of the second one.
  expect(log.of('started')).toHaveLength(2);
});

test('token refresh: happens once for three gateways and continues when one is killed', async () => {
  await using server = await startProtectedServer({ tokenTtl: 5 });
  await using fleet = await startFleet(3, { mcpServers: { it: { url: server.url } } });
  const [first] = fleet.replicas;
  const signedIn = await login(first?.home ?? '', 'it', [], { TRUNKLINE_KEY: fleet.key });
  expect(signedIn.code, signedIn.stderr).toBe(0);
  for (const { url } of fleet.replicas)
    await eventually(async () => expect(await listToolNamesAt(url)).toContain('it__whoami'), patience);
  const refreshes = () => server.log.of('refresh').length;
  await eventually(() => refreshes() >= 2, patience);
  // The gateway is killed between two refreshes, because a token that was refreshed but not stored would be lost for all gateways.
  const last = await readStoredSignIn(fleet.storageUrl);
  await eventually(async () => (await readStoredSignIn(fleet.storageUrl)) !== last, patience);
  await first?.kill();
  const before = refreshes();
  await eventually(() => refreshes() >= before + 2, patience);
  // No gateway used a refresh token that another one had already used.
  expect(server.log.of('refresh-reused')).toEqual([]);
});
