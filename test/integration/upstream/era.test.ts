import { expect } from 'vitest';

import { serverPid, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import type { FixtureLog } from '../../support/fixture-log.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

scenario('protocol era: is the newest one that a server supports', { upstream: everyLeg }, async (cell) => {
  const era = cell.upstream.split('/')[1];
  const hasBoth = cell.upstream !== 'sse/legacy';
  const both = hasBoth ? { both: ['plain', '--era', 'both'] as const } : {};
  await using line = await cell.open({ only: ['plain'], ...both });
  for (const [name, log] of Object.entries(line.logs)) {
    expect(textOfResult(await line.client.callTool(`${name}__echo`, { text: name }))).toBe(name);
    const spoken = name === 'both' ? 'modern' : era;
    expect(erasOf(log), name).toEqual([spoken]);
    expect(log.of('initialize'), name).toHaveLength(spoken === 'legacy' ? 1 : 0);
    if (spoken === 'legacy') expect(log.of('initialize')[0]).toMatchObject({ version: '2025-11-25' });
  }
  expect(Object.keys(line.logs)).toHaveLength(hasBoth ? 2 : 1);
});

scenario('protocol era: is not probed again after a restart', { slow: true }, async () => {
  const entries = { old: fixture('plain'), new: fixture('plain', '--era', 'modern') };
  const logs = { old: fixtureLog(entries.old), new: fixtureLog(entries.new) };
  let home: string | undefined;
  for (const run of [1, 2, 3]) {
    await using gateway = await startGateway({ mcpServers: entries, ...(home !== undefined && { home }) });
    home = gateway.home;
    const client = await gateway.client();
    for (const name of ['old', 'new']) {
      expect(textOfResult(await client.callTool(`${name}__echo`, { text: name }))).toBe(name);
    }
    expect(logs.old.of('initialize')).toHaveLength(run);
    await client.close();
  }
  expect(asked(logs.old, 'server/discover'), 'the old server was probed in the first run only').toBe(1);
  expect(asked(logs.new, 'initialize')).toBe(0);
});

scenario('protocol era: restarts a server that exits on the probe', async (cell) => {
  await using line = await cell.open({ one: ['exits-on-probe'] });
  await waitForTool(line.client, 'one__echo');
  expect(textOfResult(await line.client.callTool('one__echo', { text: 'a' }))).toBe('a');
  const log = line.logs['one'];
  expect(log?.of('ended')).toMatchObject([{ by: 'probe', method: 'server/discover' }]);
  expect(log?.of('started')).toHaveLength(2);
  // The era is remembered across processes.
  await line.client.callTool('one__crash');
  expect(textOfResult(await line.client.callTool('one__echo', { text: 'b' }))).toBe('b');
  expect(log?.of('started')).toHaveLength(3);
});

scenario('protocol era: falls back without a restart for a server that ignores the probe', async (cell) => {
  await using line = await cell.open({ one: ['silent-on-probe'] });
  const first = await serverPid(line.client);
  const log = line.logs['one'];
  expect(log?.of('started'), 'silence is no reason to start it again').toHaveLength(1);
  expect(log?.of('unanswered')).toMatchObject([{ method: 'server/discover' }]);
  await line.client.callTool('one__crash');
  expect(await serverPid(line.client)).not.toBe(first);
  expect(log?.of('unanswered'), 'it is probed once').toHaveLength(1);
});

scenario(
  'protocol version: supports servers of 2024-11-05, 2025-03-26 and 2025-06-18',
  { upstream: ['stdio/legacy', 'http/legacy'] },
  async (cell) => {
    const versions = ['2024-11-05', '2025-03-26', '2025-06-18'];
    await using line = await cell.open(
      Object.fromEntries(versions.map((version) => [version, ['plain', '--versions', version]])),
    );
    for (const version of versions) {
      await waitForTool(line.client, `${version}__echo`);
      expect(textOfResult(await line.client.callTool(`${version}__echo`, { text: version }))).toBe(version);
      expect(line.logs[version]?.of('initialize')).toMatchObject([{ asked: '2025-11-25', version }]);
      expect(textOfResult(await line.client.callTool(`${version}__progress`, { steps: 3 }))).toBe('3 steps');
    }
  },
);

/** Returns the eras of the requests of a server, without the probe. */
function erasOf(log: FixtureLog): readonly unknown[] {
  const asked = log.of('request').filter(({ method }) => method !== 'server/discover');
  return [...new Set(asked.map(({ era }) => era))];
}

function asked(log: FixtureLog, method: string): number {
  return log.of('request').filter((request) => request['method'] === method).length;
}
