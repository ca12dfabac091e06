import { randomBytes } from 'node:crypto';

import { beforeAll, expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { startHttpFixture } from '../../support/fixture.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { sendRequest } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { sharedPostgres } from '../../support/postgres.ts';
import { RawClient } from '../../support/raw-client.ts';
import { httpTransport } from '../../support/raw-transports.ts';
import { unusedPort } from '../../support/unused-port.mjs';
import { startLoad } from './load.ts';
import { startNginx } from './nginx.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql', 'nginx');

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

const patience = { withinMs: 40_000 };

test('nginx: loses no call while three gateways restart in turn', async () => {
  await using plain = await startHttpFixture('plain', ['--era', 'both']);
  const { url } = await (await sharedPostgres()).newSchema();
  const env = { TRUNKLINE_KEY: randomBytes(32).toString('base64') };
  /** Starts a gateway, after a restart at the same address, because nginx has a fixed list of addresses. */
  const start = async (before?: RunningGateway): Promise<RunningGateway> =>
    startGateway({
      mcpServers: { plain: { url: plain.url } },
      config: {
        startup: { listWait: '60s' },
        storage: {
          url,
          key: '${env:TRUNKLINE_KEY}',
        },
        http: {
          drain: '500ms',
          address: before === undefined ? `127.0.0.1:${await unusedPort()}` : new URL(before.url).host,
        },
      },
      ...(before && { home: before.home }),
      listen: 'configured',
      env,
    });
  const gateways = await Promise.all([start(), start(), start()]);
  await using nginx = await startNginx(gateways.map((gateway) => new URL(gateway.url).host));
  try {
    const clients = await Promise.all(
      (['legacy', 'modern', 'legacy', 'modern'] as const).map((era) =>
        RawClient.over(httpTransport(nginx.url), { era }),
      ),
    );
    await Promise.all(clients.map((client) => client.open()));
    const load = startLoad(clients);
    for (const [at, gateway] of gateways.entries()) {
      const before = load.calls;
      await eventually(() => load.calls > before + 20, patience);
      await gateway.stop();
      gateways[at] = await start(gateway);
      const ready = new URL('/readyz', gateway.url);
      await eventually(async () => (await sendRequest(ready)).status === 200, patience);
    }
    expect(await load.end()).toEqual([]);
    expect(plain.log.of('call')).toHaveLength(load.calls);
    await Promise.all(clients.map((client) => client.close()));
  } finally {
    await Promise.all(gateways.map((gateway) => gateway[Symbol.asyncDispose]()));
  }
});

test('nginx: streams events and hides metrics and the admin API', async () => {
  await using plain = await startHttpFixture('plain', ['--era', 'both']);
  await using gateway = await startGateway({
    mcpServers: { plain: { url: plain.url } },
    config: { startup: { listWait: '60s' }, metrics: true },
    listen: 'http',
  });
  await using nginx = await startNginx([new URL(gateway.url).host]);
  for (const path of ['/metrics', '/api/status'])
    expect((await sendRequest(new URL(path, nginx.url))).status, path).toBe(404);
  const client = await RawClient.over(httpTransport(nginx.url), { era: 'legacy' });
  await client.open();
  const call = client.callTool('plain__progress', { steps: 3, ms: 300 }, { meta: { progressToken: 'p' } });
  let isOver = false;
  void call.then(() => (isOver = true));
  await client.notifications.waitFor(({ method }) => method === 'notifications/progress');
  expect(isOver).toBe(false);
  await call;
  await client.close();
});
