import { beforeAll, expect, test } from 'vitest';

import { textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { sharedPostgres } from '../../support/postgres.ts';
import { isRunning } from '../../support/processes.ts';
import { startFleet } from './fleet.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

const slow = { withinMs: 40_000 };

test.each(['legacy', 'modern'] as const)(
  'session share: gives a %s client one process across all replicas',
  async (era) => {
    const entry = { ...fixture('plain'), share: 'session' };
    const log = fixtureLog(entry);
    await using fleet = await startFleet(3, { mcpServers: { plain: entry } });
    const client = await fleet.client({ era });
    const pids = new Set<string>();
    for (let n = 0; n < 9; n++) pids.add(textOfResult(await client.callTool('plain__pid', {}, slow)));
    expect(new Set(fleet.balancer.served).size).toBe(3);
    expect([...pids]).toHaveLength(1);
    // Only calls are counted, because replicas start other processes to list the server.
    const { pid } = JSON.parse([...pids][0] ?? '{}') as { pid: number };
    expect(new Set(log.of('call').map((one) => one.pid))).toEqual(new Set([pid]));
    if (era === 'modern') return;
    const other = await fleet.client({ era });
    expect(textOfResult(await other.callTool('plain__pid', {}, slow))).not.toBe([...pids][0]);
    await client.close();
    await eventually(() => !isRunning(pid), slow);
  },
);
