import { readFileSync } from 'node:fs';

import { beforeAll, expect, test } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { startHttpFixture } from '../support/fixture.ts';
import { command, toolsAt } from '../support/http-caller.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { sharedPostgres } from '../support/postgres.ts';
import { startFleet } from './fleet.ts';

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

const patience = { withinMs: 20_000 };

test('a server that is added beside one gateway is on all of them, outlives restarts, and goes from all', async () => {
  await using plain = await startHttpFixture('plain', ['--era', 'both']);
  await using fleet = await startFleet(3, { mcpServers: {} });
  const [first, second] = fleet.replicas;
  const files = fleet.replicas.map(({ configFile }) => readFileSync(configFile, 'utf8'));
  const has = (at: number, wanted: boolean) =>
    eventually(async () => {
      const tools = await toolsAt(fleet.replicas[at]?.url ?? '');
      expect(Array.isArray(tools) && tools.includes('extra__echo')).toBe(wanted);
    }, patience);
  const added = await command(first!, 'add', 'extra', '--url', plain.url, '--trust');
  expect(added.code, added.stderr).toBe(0);
  expect(added.stdout).toContain('Added extra to the database');
  for (const at of [0, 1, 2]) await has(at, true);
  // One of them has listed it for all.
  expect(plain.log.of('request').filter(({ method }) => method === 'tools/list')).toHaveLength(1);
  await fleet.restart(2);
  await has(2, true);
  const removed = await command(second!, 'remove', 'extra');
  expect(removed.code, removed.stderr).toBe(0);
  for (const at of [0, 1, 2]) await has(at, false);
  expect(fleet.replicas.map(({ configFile }) => readFileSync(configFile, 'utf8'))).toEqual(files);
}, 120_000);
