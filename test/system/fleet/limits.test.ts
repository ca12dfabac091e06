import { beforeAll, expect, test } from 'vitest';

import { gatewayErrorCode, textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { startHttpFixture } from '../../support/fixture.ts';
import type { FixtureLog } from '../../support/fixture-log.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { sharedPostgres } from '../../support/postgres.ts';
import { startFleet } from './fleet.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

/** Returns the maximum number of concurrent calls according to the log of the server. */
function mostAtOnce(log: FixtureLog): number {
  let [now, most] = [0, 0];
  for (const { event } of log.all()) {
    if (event === 'call') most = Math.max(most, ++now);
    if (event === 'called') now--;
  }
  return most;
}

test('fleet limits: cap concurrent calls across three gateways', async () => {
  await using plain = await startHttpFixture('plain', ['--era', 'both']);
  const limits = { concurrency: 2, scope: 'fleet' };
  await using fleet = await startFleet(3, { mcpServers: { plain: { url: plain.url, limits } } });
  const clients = await Promise.all(
    (['legacy', 'modern', 'modern'] as const).map((era) => fleet.client({ era })),
  );
  const calls = clients.flatMap((client, who) =>
    Array.from({ length: 8 }, async (_, at) => {
      const text = `${who} ${at}`;
      const how = { withinMs: 60_000 };
      return textOfResult(await client.callTool('plain__slow', { ms: 50, text }, how)) === text;
    }),
  );
  expect((await Promise.all(calls)).every(Boolean)).toBe(true);
  await eventually(() => plain.log.of('called').length === 24);
  expect(mostAtOnce(plain.log)).toBeLessThanOrEqual(2);
});

test('fleet limits: cap the call rate across three gateways', async () => {
  await using plain = await startHttpFixture('plain', ['--era', 'both']);
  const limits = { rate: 120, scope: 'fleet' };
  await using fleet = await startFleet(3, { mcpServers: { plain: { url: plain.url, limits } } });
  const clients = await Promise.all([0, 1, 2].map(() => fleet.client({ era: 'modern' })));
  const answers = await Promise.all(
    clients.flatMap((client) =>
      Array.from({ length: 30 }, async () =>
        gatewayErrorCode(await client.callTool('plain__echo', { text: 'x' })),
      ),
    ),
  );
  const refused = answers.filter((code) => code === 'RATE_LIMITED').length;
  const times = plain.log.of('call').map(({ at }) => at);
  const elapsed = Math.max(...times) - Math.min(...times);
  expect(times.length + refused).toBe(90);
  expect(refused).toBeGreaterThan(0);
  expect(times.length).toBeGreaterThan(0);
  // The limit is the initial burst, the calls that the rate allows in the elapsed time, and one more for each gateway.
  expect(times.length).toBeLessThanOrEqual(12 + (120 * elapsed) / 60_000 + 3 + 1);
});
