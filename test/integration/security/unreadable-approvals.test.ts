import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { runCommandFor } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { databasePath } from '../../support/audit-rows.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const config = { startup: { listWait: '60s' } };

/** A path at which no database can be opened. */
function breakStore(home: string): void {
  for (const suffix of ['-wal', '-shm']) rmSync(`${databasePath(home)}${suffix}`, { force: true });
  rmSync(databasePath(home), { force: true });
  mkdirSync(databasePath(home), { recursive: true });
}

const names = async (client: RawClient): Promise<readonly string[]> =>
  (await client.listTools()).map(({ name }) => name);

test('approvals: approve nothing while their store is unreadable, and recover by themselves', async () => {
  const home = temporaryFolder('trunkline-home');
  breakStore(home);
  const mcpServers = { one: fixture('plain') };
  await using gateway = await startGateway({ mcpServers, config, home, listen: 'http' });
  await using client = await gateway.client();
  await eventually(async () => {
    expect(gatewayErrorCode(await client.callTool('one__echo', { text: 'a' }))).toBe('QUARANTINED');
  });
  expect(await names(client)).toEqual([]);
  expect(gateway.stderr()).toContain('Approvals cannot be read');
  const status = await runCommandFor(gateway, 'status');
  expect(status.stdout).toContain('New tools stay held');
  renameSync(databasePath(home), join(home, 'away'));
  await waitForTool(client, 'one__echo');
  expect(textOfResult(await client.callTool('one__echo', { text: 'a' }))).toBe('a');
  expect(gateway.stderr()).toContain('Approvals are readable again');
});

test('approvals: keep known tools usable while their store is unreadable and hold changed ones', async () => {
  const home = temporaryFolder('trunkline-home');
  const mcpServers = { one: fixture('changes-a-definition') };
  {
    await using gateway = await startGateway({ mcpServers, config, home });
    await using client = await gateway.client();
    await waitForTool(client, 'one__changing');
  }
  breakStore(home);
  await using gateway = await startGateway({ mcpServers, config, home });
  await using client = await gateway.client();
  expect(textOfResult(await client.callTool('one__changing', { text: 'a' }))).toBe('revision 1: a');
  await client.callTool('one__change');
  expect(gatewayErrorCode(await client.callTool('one__changing', { text: 'b' }))).toBe('QUARANTINED');
  await eventually(async () => expect(await names(client)).toEqual(['one__change']));
});
