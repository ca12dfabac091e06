import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { DashboardBrowser, readAdminKey, createSignInLink } from '../../support/dashboard-browser.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { sendMcpRequest } from '../../support/mcp-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { startOwnPostgres, sharedPostgres } from '../../support/postgres.ts';
import { startFleet } from './fleet.ts';
import { shortWait } from './short-wait.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

const patience = { withinMs: 40_000 };
/** Enough requests to reach each of three gateways more than once. */
const ROUND = [1, 2, 3, 4, 5, 6];

/** Requests a path until every gateway has answered, and returns the statuses. */
async function statuses(browser: DashboardBrowser, path = '/api/status'): Promise<readonly number[]> {
  const all = [];
  for (const _ of ROUND) all.push((await browser.fetch('GET', path)).status);
  return all;
}

const always = (status: number): readonly number[] => ROUND.map(() => status);

test('dashboard session: is valid on all gateways behind a balancer and ends on all at once', async () => {
  await using fleet = await startFleet(3, { mcpServers: { plain: fixture('plain') } });
  const [first] = fleet.replicas;
  if (first === undefined) throw new Error('There is no gateway.');
  const { pathname, search } = new URL(await createSignInLink(first));
  const entry = `${pathname}${search}`;
  const browser = new DashboardBrowser(fleet.url);
  // Consecutive requests go to different gateways.
  expect((await browser.visit('/')).status).toBe(200);
  expect((await browser.visit(entry)).status).toBe(303);
  const before = fleet.balancer.served.length;
  expect(await statuses(browser)).toEqual(always(200));
  expect(new Set(fleet.balancer.served.slice(before))).toEqual(new Set([0, 1, 2]));
  const second = new DashboardBrowser(fleet.url);
  for (const _ of ROUND) expect((await second.visit(entry)).status).toBe(403);
  // Every gateway accepts changes only from the origin of the dashboard.
  for (const [at] of ROUND.entries())
    expect((await browser.fetch('POST', '/api/keys', { name: `k${at}` })).status).toBe(200);
  const foreign = { origin: 'http://127.0.0.1:1' };
  for (const _ of ROUND)
    expect([401, 403]).toContain(
      (await browser.fetch('POST', '/api/keys', { name: 'mallory' }, foreign)).status,
    );
  expect(
    fleet.replicas.map(({ home }) => existsSync(join(home, 'state', 'dashboard-sessions.json'))),
  ).toEqual([false, false, false]);
  // The session survives a restart of each gateway.
  for (const at of fleet.replicas.keys()) {
    await fleet.restart(at);
    expect(await statuses(browser)).toEqual(always(200));
  }
  const streams = await Promise.all(
    fleet.replicas.map(async ({ url }) => {
      const direct = new DashboardBrowser(url);
      // The name of the cookie depends on the port, so the same session needs another name at the gateway's own address.
      direct.cookie = browser.cookie?.replace(/^trunkline_\d+/, `trunkline_${new URL(url).port}`);
      return direct.events();
    }),
  );
  const { cookie = '' } = browser;
  expect((await browser.fetch('DELETE', '/api/session')).json).toEqual({ signedOut: true });
  browser.cookie = cookie;
  await eventually(async () => expect(await statuses(browser)).toEqual(always(401)), shortWait);
  await eventually(() => streams.every(({ isClosed: isOver }) => isOver), patience);
});

test('admin key: is accepted by all gateways until its own gateway ends', async () => {
  await using fleet = await startFleet(3, { mcpServers: { plain: fixture('plain') } });
  const status = async (at: number, key: string): Promise<number> => {
    const url = new URL('/api/status', fleet.replicas[at]?.url).href;
    return (await sendMcpRequest(url, { headers: { authorization: `Bearer ${key}` } })).status;
  };
  const keys = fleet.replicas.map(({ home }) => readAdminKey(home));
  expect(new Set(keys).size).toBe(3);
  await eventually(async () => {
    for (const key of keys) for (const at of [0, 1, 2]) expect(await status(at, key)).toBe(200);
  }, patience);
  const browser = new DashboardBrowser(fleet.url);
  expect((await browser.fetch('POST', '/api/session', { key: keys[0] })).status).toBe(200);
  expect(await statuses(browser)).toEqual(always(200));
  await fleet.restart(0);
  await eventually(async () => {
    for (const at of [0, 1, 2]) expect(await status(at, keys[0] ?? '')).toBe(401);
  }, patience);
  expect(await statuses(browser)).toEqual(always(200));
});

test('dashboard call: accepts the answer to an elicitation at any gateway', async () => {
  await using fleet = await startFleet(3, { mcpServers: { it: fixture('asks-the-user') } });
  const [first] = fleet.replicas;
  if (first === undefined) throw new Error('There is no gateway.');
  const { pathname, search } = new URL(await createSignInLink(first));
  const browser = new DashboardBrowser(fleet.url);
  expect((await browser.visit(`${pathname}${search}`)).status).toBe(303);
  for (const mark of ['a', 'b', 'c']) {
    using call = await browser.call('it__ask-form', { mark });
    const { id } = JSON.parse((await call.of('question')).data) as { id: string };
    const result = { action: 'accept', content: { name: `Anna ${mark}` } };
    expect((await browser.fetch('POST', '/api/answer', { id, result })).json).toEqual({ taken: true });
    expect((await call.of('result')).data).toContain(`Anna ${mark}`);
    // The call and the answer went to different gateways.
    const [called, answered] = fleet.balancer.served.slice(-2);
    expect(called).not.toBe(answered);
    expect((await browser.fetch('POST', '/api/answer', { id, result })).json).toEqual({ taken: false });
  }
});

test('database outage: keeps dashboard sessions valid and answers unknown ones with STORE_AWAY', async () => {
  await using cluster = await startOwnPostgres();
  const { url: storageUrl } = await cluster.newSchema();
  const config = { storage: { connectTimeout: '2s' } };
  await using fleet = await startFleet(2, { mcpServers: { plain: fixture('plain') }, storageUrl, config });
  const [first] = fleet.replicas;
  if (first === undefined) throw new Error('There is no gateway.');
  const { pathname, search } = new URL(await createSignInLink(first));
  const browser = new DashboardBrowser(fleet.url);
  expect((await browser.visit(`${pathname}${search}`)).status).toBe(303);
  expect(await statuses(browser)).toEqual(always(200));
  cluster.stop();
  expect(await statuses(browser)).toEqual(always(200));
  const stranger = new DashboardBrowser(fleet.url);
  stranger.cookie = browser.cookie?.replace(/=.*/, `=${'x'.repeat(43)}`);
  expect((await stranger.fetch('GET', '/api/status')).json).toMatchObject({ error: { code: 'STORE_AWAY' } });
  cluster.start();
  await eventually(async () => expect(await statuses(stranger)).toEqual(always(401)), patience);
  expect(await statuses(browser)).toEqual(always(200));
});
