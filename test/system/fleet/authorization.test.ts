import { beforeAll, expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { addKey, startGatewayWithAuth, listToolNamesAt } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { OauthFlow, parseTokens } from '../../support/oauth-flow.ts';
import { startOwnPostgres, sharedPostgres } from '../../support/postgres.ts';
import { shortWait } from './short-wait.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

const auth = { authorizationServer: { allowPrivate: true } };
const startup = { listWait: '60s' };
const patience = { withinMs: 40_000 };

test('authorization: spans gateways, and its tokens are valid and revoked on all of them', async () => {
  const { url } = await (await sharedPostgres()).newSchema();
  const config = { auth, startup, storage: { url } };
  await using one = await startGatewayWithAuth(config);
  await using two = await startGatewayWithAuth(config);
  await using three = await startGatewayWithAuth(config);
  const all = [one, two, three];
  const key = await addKey(one, 'anna');
  for (const { url: at } of all)
    await eventually(async () => expect(await listToolNamesAt(at)).toBe(401), patience);
  let turn = 0;
  const flow = await OauthFlow.begin({ url: () => all[turn++ % all.length]!.url });
  const code = await eventually(async () => {
    const given = await flow.code(key);
    expect(given).not.toBe('');
    return given;
  }, patience);
  const first = parseTokens(await flow.collect(code));
  for (const { url: at } of all)
    expect(await listToolNamesAt(at, { key: first.access_token })).toContain('plain__echo');
  const next = parseTokens(await flow.refresh(first.refresh_token));
  // Using an authorization code twice, at any gateway, revokes all tokens that were issued for it.
  expect((await flow.collect(code)).status).toBe(400);
  for (const { url: at } of all)
    for (const { access_token } of [first, next])
      await eventually(
        async () => expect(await listToolNamesAt(at, { key: access_token })).toBe(401),
        shortWait,
      );
});

test('database outage: keeps known tokens valid and answers unknown ones with 503', async () => {
  await using cluster = await startOwnPostgres();
  const { url } = await cluster.newSchema();
  await using gateway = await startGatewayWithAuth({ auth, startup, storage: { url, connectTimeout: '1s' } });
  const key = await addKey(gateway, 'anna');
  const flow = await OauthFlow.begin(gateway);
  const known = parseTokens(await flow.collect(await flow.code(key)));
  const unknown = parseTokens(await flow.collect(await flow.code(key)));
  await eventually(
    async () =>
      expect(await listToolNamesAt(gateway.url, { key: known.access_token })).toContain('plain__echo'),
    patience,
  );
  cluster.stop();
  for (let at = 0; at < 3; at++)
    expect(await listToolNamesAt(gateway.url, { key: known.access_token })).toContain('plain__echo');
  expect(await listToolNamesAt(gateway.url, { key: unknown.access_token })).toBe(503);
  cluster.start();
  await eventually(
    async () =>
      expect(await listToolNamesAt(gateway.url, { key: unknown.access_token })).toContain('plain__echo'),
    patience,
  );
  expect((await flow.revoke(known.refresh_token)).status).toBe(200);
  expect(await listToolNamesAt(gateway.url, { key: known.access_token })).toBe(401);
});
