import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import type { FixtureLog } from '../../support/fixture-log.ts';
import { type StdioEntry, fixture, fixtureLog } from '../../support/fixture.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { isRunning, runningProcesses } from '../../support/processes.ts';

checkLeaks();

test('killed gateway: leaves no server process behind', async () => {
  const servers = {
    polite: fixture('plain'),
    stubborn: fixture('ignores-signals'),
    launched: fixture('launcher', '--real', 'ignores-signals'),
    hanging: fixture('hangs-in-calls'),
    starting: fixture('slow-start', '--ms', '60000'),
  };
  const gateway = await startGateway({ mcpServers: servers });
  const client = await gateway.client();
  for (const name of ['polite', 'stubborn', 'launched']) {
    expect(textOfResult(await client.callTool(`${name}__echo`, { text: name }))).toBe(name);
  }
  const hanging = client.callTool('hanging__echo', { text: 'a' }).catch((error: unknown) => error);
  await fixtureLog(servers.hanging).waitFor('call');
  await fixtureLog(servers.starting).waitFor('started');
  const pids = pidsOf(servers);
  expect(pids.filter(isRunning)).toHaveLength(6);
  await gateway.kill();
  expect(await hanging).toBeInstanceOf(Error);
  await eventually(() => expect(pids.filter(isRunning)).toEqual([]), { withinMs: 5000 });
  await gateway[Symbol.asyncDispose]();
  await tidyUp(gateway.home);
});

test('killed gateway: has leftover servers ended by the next start, but not those of a live gateway', async () => {
  const servers = { polite: fixture('plain'), stubborn: fixture('ignores-signals') };
  const dying = await startGateway({ mcpServers: servers });
  const first = await dying.client();
  for (const name of ['polite', 'stubborn']) await first.callTool(`${name}__echo`, { text: 'a' });
  const [polite] = pidsOf({ polite: servers.polite });
  const [left] = pidsOf({ stubborn: servers.stubborn });
  // With the same configuration, because the gateway would reload a different one.
  await using living = await startGateway({ mcpServers: servers, home: dying.home, listen: 'http' });
  const second = await living.client();
  await second.callTool('stubborn__echo', { text: 'a' });
  const other = pidsOf({ stubborn: servers.stubborn }).find((pid) => pid !== left);
  process.kill(watchdogOf(dying), 'SIGKILL');
  await dying.kill();
  await dying[Symbol.asyncDispose]();
  await eventually(() => !isRunning(polite!));
  expect(isRunning(left!), 'nobody was there to end it').toBe(true);

  await using next = await startGateway({ mcpServers: servers, home: dying.home });
  await next.client();
  await eventually(() => expect(isRunning(left!)).toBe(false));
  await eventually(() =>
    expect(next.stderr()).toContain('Ended servers that an earlier gateway left behind.'),
  );
  expect(textOfResult(await second.callTool('stubborn__echo', { text: 'still here' }))).toBe('still here');
  expect(isRunning(other!)).toBe(true);
  const records = runFiles(dying.home).filter((name) => name.startsWith('children-'));
  expect(records.filter((name) => !name.includes(String(next.pid)))).toEqual([`children-${living.pid}.json`]);
  await second.close();
});

test('killed gateway: leaves neither processes nor files after repeated kills', async () => {
  const server = fixture('ignores-signals');
  let home: string | undefined;
  for (let round = 0; round < 5; round += 1) {
    const gateway = await startGateway({
      mcpServers: { one: server },
      ...(home !== undefined && { home }),
    });
    home = gateway.home;
    const client = await gateway.client();
    expect(textOfResult(await client.callTool('one__echo', { text: 'a' }))).toBe('a');
    await gateway.kill();
    await gateway[Symbol.asyncDispose]();
  }
  const pids = pidsOf({ server });
  expect(new Set(pids).size).toBeGreaterThanOrEqual(5);
  await eventually(() => expect(pids.filter(isRunning)).toEqual([]), { withinMs: 5000 });
  await tidyUp(home!);
});

function pidsOf(servers: Readonly<Record<string, StdioEntry>>): readonly number[] {
  const logs: readonly FixtureLog[] = Object.values(servers).map(fixtureLog);
  return logs.flatMap((log) => log.of('started').map(({ pid }) => pid));
}

/** Returns the watchdog shell of a gateway, which acts if the gateway is killed. */
function watchdogOf({ pid }: RunningGateway): number {
  const shells = runningProcesses().filter(
    ({ parent, commandLine }) => parent === pid && commandLine.startsWith('/bin/sh -c'),
  );
  expect(shells).toHaveLength(1);
  return shells[0]!.pid;
}

/** Starts and stops a gateway; afterwards no file may mark a running gateway. */
async function tidyUp(home: string): Promise<void> {
  const gateway = await startGateway({ mcpServers: {}, home });
  const client = await gateway.client();
  await client.close();
  await gateway.stop();
  await gateway[Symbol.asyncDispose]();
  expect(runFiles(home)).toEqual([]);
}

function runFiles(home: string): readonly string[] {
  const folder = join(home, 'state', 'run');
  return existsSync(folder) ? readdirSync(folder) : [];
}
