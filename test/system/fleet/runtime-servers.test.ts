import { readFileSync } from 'node:fs';

import { beforeAll, expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { startHttpFixture } from '../../support/fixture.ts';
import { runCommandFor, listToolNamesAt } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { sharedPostgres } from '../../support/postgres.ts';
import { type RunningFleet, startFleet } from './fleet.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

const patience = { withinMs: 40_000 };

async function has(fleet: RunningFleet, at: number, wanted: boolean): Promise<void> {
  await eventually(async () => {
    const tools = await listToolNamesAt(fleet.replicas[at]?.url ?? '');
    expect(Array.isArray(tools) && tools.includes('extra__echo')).toBe(wanted);
  }, patience);
}

test('runtime server: is shared by all gateways, survives a restart and is removed from all', async () => {
  await using plain = await startHttpFixture('plain', ['--era', 'both']);
  await using fleet = await startFleet(3, { mcpServers: {} });
  const [first, second] = fleet.replicas;
  const files = fleet.replicas.map(({ configFile }) => readFileSync(configFile, 'utf8'));
  const added = await runCommandFor(first!, 'add', 'extra', '--url', plain.url, '--trust');
  expect(added.code, added.stderr).toBe(0);
  expect(added.stdout).toContain('Added extra to the database');
  expect(added.stderr).toContain('All gateways on the database have applied the change');
  for (const at of [0, 1, 2]) await has(fleet, at, true);
  // One gateway has listed the server for all.
  expect(plain.log.of('request').filter(({ method }) => method === 'tools/list')).toHaveLength(1);
  const searched = await runCommandFor(fleet.replicas[2]!, 'search', 'echo');
  expect(searched.stdout, searched.stderr).toContain('extra__echo');
  // The other gateways refuse the name too, although their files do not contain the server.
  const taken = await runCommandFor(second!, 'add', 'extra', '--url', `${plain.url}?another`, '--trust');
  expect(taken.code, taken.stdout).toBe(2);
  expect(taken.stderr).toContain('another server has this name');
  const same = await runCommandFor(second!, 'add', 'extra', '--url', plain.url, '--trust');
  expect(same.stdout, same.stderr).toContain('extra is already in the database');
  await fleet.restart(2);
  await has(fleet, 2, true);
  const removed = await runCommandFor(second!, 'remove', 'extra');
  expect(removed.code, removed.stderr).toBe(0);
  expect(removed.stdout).toContain('Removed extra from the database');
  for (const at of [0, 1, 2]) await has(fleet, at, false);
  expect(fleet.replicas.map(({ configFile }) => readFileSync(configFile, 'utf8'))).toEqual(files);
});

test('runtime server: is added to the local file when no gateway runs there', async () => {
  await using fleet = await startFleet(2, { mcpServers: {} });
  const [, second] = fleet.replicas;
  await second?.stop();
  const added = await runCommandFor(second!, 'add', 'extra', '--url', 'http://127.0.0.1:9/mcp', '--trust');
  expect(added.code, added.stderr).toBe(0);
  expect(added.stdout).toContain(`Added extra to ${second?.configFile}`);
  expect(added.stderr).toContain('other gateways on the same database do not see');
  expect(JSON.parse(readFileSync(second?.configFile ?? '', 'utf8'))).toHaveProperty('mcpServers.extra');
  const others = await runCommandFor(fleet.replicas[0]!, 'servers');
  expect(others.stdout, others.stderr).not.toContain('extra');
});
