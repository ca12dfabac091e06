import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { sendRequest } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { waitForAuditRows } from '../../support/audit-rows.ts';
import { sseReader } from '../../support/sse-events.ts';

checkLeaks();

const FORMULA = "=cmd|' /C calc'!A0";

function started(): Promise<RunningGateway> {
  return startGateway({
    mcpServers: { plain: fixture('plain') },
    config: { startup: { listWait: '60s' } },
    listen: 'http',
  });
}

const adminKey = ({ home }: RunningGateway): string =>
  readFileSync(join(home, 'state', 'run', 'admin.key'), 'utf8').trim();

test('audit export: returns all or filtered records as JSON lines or formula-safe CSV', async () => {
  await using gateway = await started();
  await using client = await gateway.client({ clientInfo: { name: '@SUM(1)', version: '+1' } });
  await waitForTool(client, 'plain__echo');
  await client.callTool('plain__echo', { text: 'a' });
  await client.callTool(FORMULA).catch(String);
  await client.request('resources/subscribe', { uri: 'fixture://text' });
  await waitForAuditRows(gateway.home, 3);
  const key = adminKey(gateway);
  const exported = (query: string) => sendRequest(new URL(`/api/audit/export${query}`, gateway.url), { key });
  const lines = await exported('');
  expect(lines.headers['content-disposition']).toContain('trunkline-audit.jsonl');
  const records = lines.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(records.map(({ seq, kind, entry, outcome }) => [seq, kind, entry, outcome])).toEqual([
    [1, 'tool', 'echo', 'ok'],
    [2, 'tool', FORMULA, 'refused'],
    [3, 'subscription', 'fixture://text', 'ok'],
  ]);
  const csv = (await exported('?format=csv')).text.split('\r\n');
  expect(csv).toHaveLength(5);
  expect(csv[2]).toContain(`,'${FORMULA},`);
  expect(csv[1]).toContain(`,'@SUM(1),'+1,`);
  expect((await exported('?format=csv&kind=subscription')).text.trim().split('\r\n')).toHaveLength(2);
  expect((await exported('?format=xls')).status).toBe(400);
  expect((await sendRequest(new URL('/api/audit/export', gateway.url))).status).toBe(401);
});

test('audit events: stream each new matching record once, in order', async () => {
  await using gateway = await started();
  await using client = await gateway.client();
  await waitForTool(client, 'plain__echo');
  await client.callTool('plain__echo', { text: 'before' });
  await waitForAuditRows(gateway.home, 1);
  const heard: { readonly seq: number; readonly outcome: string }[] = [];
  let isOpen = false;
  const url = new URL('/api/audit/events?outcome=ok', gateway.url);
  const following = request(url, { agent: false, headers: { authorization: `Bearer ${adminKey(gateway)}` } });
  following.on('error', () => {}); // It is destroyed below.
  following.on('response', (response) => {
    const read = sseReader(({ event, data }) => {
      if (event === 'record') heard.push(JSON.parse(data) as (typeof heard)[number]);
    });
    response.setEncoding('utf8').on('data', (text: string) => {
      isOpen = true;
      read(text);
    });
    response.on('error', () => {});
  });
  following.end();
  await eventually(() => isOpen);
  for (const text of ['a', 'b']) await client.callTool('plain__echo', { text });
  await client.callTool('plain__fail');
  await client.callTool('plain__echo', { text: 'c' });
  await eventually(() => heard.length >= 3);
  expect(heard.map(({ seq, outcome }) => [seq, outcome])).toEqual([
    [2, 'ok'],
    [3, 'ok'],
    [5, 'ok'],
  ]);
  following.destroy();
});
