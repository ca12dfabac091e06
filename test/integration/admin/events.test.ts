import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { EventLog, readAdminKey, openSignedInBrowser } from '../../support/dashboard-browser.ts';
import type { DashboardBrowser } from '../../support/dashboard-browser.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { openMcpResponse } from '../../support/mcp-requests.ts';

const start = (more: { home?: string; args?: readonly string[] } = {}) =>
  startGateway({ mcpServers: { files: fixture('plain') }, listen: 'http', ...more });

async function call(browser: DashboardBrowser): Promise<void> {
  const tools = (await browser.fetch('GET', '/api/tools')).json as readonly { name: string }[];
  const { name } = tools.find((tool) => tool.name.endsWith('echo')) ?? { name: '' };
  await browser.fetch('POST', '/api/call', { name, args: { text: 'x', message: 'x' } });
}

test(
  'event stream: reports changes of servers, calls, keys, configuration and catalog',
  { tags: ['slow'] },
  async () => {
    await using gateway = await start();
    const browser = await openSignedInBrowser(gateway);
    using log = await browser.events();
    await log.of('hello');
    await call(browser);
    await log.of(
      'record',
      ({ kind, server }: { kind: string; server?: string }) => kind === 'tool' && server === 'files',
    );
    const servers = (await browser.fetch('GET', '/api/servers')).json as readonly { pid?: number }[];
    const before = servers[0]?.pid;
    expect(before).toBeDefined();
    await browser.fetch('POST', '/api/servers/files/restart', {});
    // Intermediate states may be too short to be reported.
    await log.of(
      'server',
      ({ name, state, pid }: { name: string; state: string; pid?: number }) =>
        name === 'files' && state === 'ready' && pid !== before,
    );
    await browser.fetch('POST', '/api/keys', { name: 'anna' });
    await log.of(
      'keys',
      ({ name, action }: { name: string; action: string }) => name === 'anna' && action === 'add',
    );
    writeFileSync(gateway.configFile, JSON.stringify({ mcpServers: { other: fixture('plain') } }));
    await log.of('server', ({ name }: { name: string }) => name === 'other');
    await log.of('server-gone', ({ name }: { name: string }) => name === 'files');
    await log.of('config');
    await log.of('catalog', ({ tools }: { tools: boolean }) => tools);
    await log.of('tick', ({ records }: { records: number }) => records > 0);
    const ids = log.events.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  },
);

test('event stream: reports a new approval, the decision about it, and its audit record', async () => {
  await using gateway = await start();
  const browser = await openSignedInBrowser(gateway);
  using log = await browser.events();
  await log.of('hello');
  const heldServers = (): readonly number[] =>
    log.events
      .filter(({ event }) => event === 'approvals')
      .map(({ data }) => (JSON.parse(data) as { servers: number }).servers);
  const mcpServers = { held: { ...fixture('plain'), trust: 'manual' }, files: fixture('plain') };
  writeFileSync(gateway.configFile, JSON.stringify({ mcpServers }));
  await eventually(() => heldServers().at(-1) === 1, { what: 'the event of the new approval' });
  const { held } = (await browser.fetch('GET', '/api/approvals')).json as { held: readonly object[] };
  const [server] = held as readonly { server: string; kind: string; name: string; fingerprint: string }[];
  expect(server).toMatchObject({ server: 'held', kind: 'server' });
  const decided = await browser.fetch('POST', '/api/approvals', { decision: 'accept', items: [server] });
  expect(decided.status).toBe(200);
  await eventually(() => heldServers().at(-1) === 0, { what: 'the event of the decision' });
  await log.of(
    'record',
    ({ kind, action }: { kind: string; action?: string }) => kind === 'approval' && action === 'accept',
  );
});

test('event stream: replays missed events, and sends a reset after a gap or a restart', async () => {
  const first = await start();
  const { home } = first;
  const { port } = new URL(first.url);
  const browser = await openSignedInBrowser(first);
  const log = await browser.events();
  const { id: lastId = '' } = await log.of('hello');
  log[Symbol.dispose]();
  await browser.fetch('POST', '/api/keys', { name: 'missed' });
  using again = await browser.events({ 'last-event-id': lastId });
  await again.of('keys', ({ name }: { name: string }) => name === 'missed');
  expect(again.events.map(({ event }) => event)).not.toContain('reset');
  using lost = await browser.events({ 'last-event-id': lastId.replace(/\w+$/, 'zz') });
  expect(JSON.parse((await lost.of('reset')).data)).toEqual({ reason: 'gap' });
  await first.stop();
  await using second = await start({ home, args: ['--http', `127.0.0.1:${port}`] });
  using after = await browser.events({ 'last-event-id': lastId });
  expect(JSON.parse((await after.of('reset')).data)).toEqual({ reason: 'restart' });
  expect(second.home).toBe(home);
});

test('event stream: accepts the admin key and rejects a request without it', async () => {
  await using gateway = await start();
  const url = new URL('/api/events', gateway.url).href;
  const headers = { authorization: `Bearer ${readAdminKey(gateway.home)}` };
  using log = EventLog.waitFor(await openMcpResponse(url, { headers }));
  await log.of('hello');
  const refused = await openMcpResponse(url, {});
  expect(refused.statusCode).toBe(401);
  refused.destroy();
});
