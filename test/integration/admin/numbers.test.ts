import { expect, test } from 'vitest';

import type { AdminTokenUsage } from '../../../src/admin/contract/contract.ts';
import { openSignedInBrowser } from '../../support/dashboard-browser.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';

test('token savings: subtract the cost of listing and searching, and survive a restart', async () => {
  const options = {
    mcpServers: { many: fixture('many-tools', '300') },
    listen: 'http' as const,
    args: ['--expose', 'search'],
  };
  const first = await startGateway(options);
  const { home } = first;
  const client = await first.client();
  await client.request('tools/list');
  await client.request('tools/call', { name: 'search_tools', arguments: { query: 'tool' } });
  const browser = await openSignedInBrowser(first);
  const read = async (): Promise<AdminTokenUsage> =>
    (await browser.fetch('GET', '/api/tokens')).json as AdminTokenUsage;
  // The cost of the full list is known once all tools are listed.
  const tokens = await eventually(async () => {
    const current = await read();
    return current.lists === 1 && current.searches === 1 && current;
  });
  expect(tokens.whole).toBeGreaterThan(tokens.menu);
  expect(Math.min(tokens.menu, tokens.search)).toBeGreaterThan(20);
  expect(tokens.saved).toBe(tokens.whole - tokens.menu - tokens.search);
  expect(tokens.days).toHaveLength(7);
  expect(tokens.days.at(-1)).toMatchObject({ whole: tokens.whole, searches: 1 });
  await first.stop();
  await using second = await startGateway({ ...options, home });
  const again = (await (await openSignedInBrowser(second)).fetch('GET', '/api/tokens?days=1'))
    .json as AdminTokenUsage;
  expect(again).toMatchObject({ whole: tokens.whole, menu: tokens.menu, search: tokens.search });
  expect(again.days).toHaveLength(1);
});

test('call statistics: count calls per server over time, and reject invalid or too many buckets', async () => {
  await using gateway = await startGateway({ mcpServers: { files: fixture('plain') }, listen: 'http' });
  const browser = await openSignedInBrowser(gateway);
  await browser.fetch('POST', '/api/call', { name: 'files__echo', args: { text: 'x' } });
  const minute = 60_000;
  const to = Math.ceil(Date.now() / minute) * minute + minute;
  const path = `/api/audit/series?from=${to - 10 * minute}&to=${to}&bucket=${minute}&by=server`;
  const { json } = await browser.fetch('GET', path);
  const { at, series } = json as {
    at: readonly number[];
    series: readonly { server: string; calls: readonly number[] }[];
  };
  expect(at).toHaveLength(10);
  expect(series).toMatchObject([{ server: 'files' }]);
  expect(series[0]?.calls.reduce((sum, count) => sum + count, 0)).toBe(1);
  const { servers } = (await browser.fetch('GET', '/api/latency')).json as { servers: readonly object[] };
  expect(servers).toMatchObject([{ server: 'files', calls: 1 }]);
  for (const query of ['bucket=10', 'from=5&to=4', 'bucket=1000', 'by=caller'])
    expect((await browser.fetch('GET', `/api/audit/series?${query}`)).status, query).toBe(400);
});

test('caller view: shows the tools of another key and the rule that hides each one', async () => {
  await using gateway = await startGateway({
    mcpServers: { files: fixture('plain'), secret: fixture('plain') },
    config: {
      auth: { keys: true },
      profiles: { open: { description: 'Files alone.', servers: ['files'] } },
      policy: { rules: [{ id: 'no-echo', effect: 'deny', names: ['*echo*'] }] },
    },
    listen: 'http',
  });
  const browser = await openSignedInBrowser(gateway);
  await browser.fetch('POST', '/api/refresh', {});
  await browser.fetch('POST', '/api/keys', { name: 'anna', profile: 'open' });
  const view = (await browser.fetch('GET', '/api/view?key=anna')).json as {
    readonly caller: object;
    readonly servers: readonly object[];
    readonly tools: readonly { name: string; verdict: string; rule: string }[];
  };
  expect(view.caller).toMatchObject({ id: 'key:anna', profile: 'open' });
  expect(view.servers).toEqual([
    { name: 'files', isSeen: true },
    { name: 'secret', isSeen: false },
  ]);
  const toolNamed = (name: string): object | undefined => view.tools.find((tool) => tool.name === name);
  expect(toolNamed('files__echo')).toMatchObject({ verdict: 'hide', rule: 'no-echo' });
  expect(toolNamed('secret__echo')).toMatchObject({ verdict: 'hide', rule: 'profile open' });
  expect(view.tools.filter(({ verdict }) => verdict === 'allow').length).toBeGreaterThan(0);
  const profiles = (await browser.fetch('GET', '/api/profiles')).json;
  expect(profiles).toMatchObject([
    { name: 'default', servers: ['files', 'secret'], keys: [] },
    { name: 'open', description: 'Files alone.', servers: ['files'], keys: ['anna'] },
  ]);
  expect((await browser.fetch('GET', '/api/view?key=anne')).json).toMatchObject({
    error: { code: 'ENTRY_NOT_FOUND', message: 'There is no key "anne". Did you mean "anna"?' },
  });
});
