import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, test } from 'vitest';

import { waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { openDashboard, seriousProblems } from './support.ts';
import { needs } from '../../support/needs.ts';

needs('chromium');

checkLeaks();

const SECRET = 'sk-test-0123456789abcdef0123456789';

test('servers page: adds servers from a pasted snippet with an outcome for each', async () => {
  await using dashboard = await openDashboard({ mcpServers: {} });
  const { gateway, page } = dashboard;
  await dashboard.goto('/servers');
  const openButton = page.getByRole('button', { name: 'Paste a snippet' });
  const dialog = page.getByRole('dialog', { name: 'Add a server' });
  // Escape closes the dialog and restores the focus.
  await openButton.press('Enter');
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await page.locator('button:focus', { hasText: 'Paste a snippet' }).waitFor();
  await page.keyboard.press('Enter');
  const mcpServers = { pasted: fixture('plain'), 'no good': { kommand: 'node' } };
  await dialog.getByLabel('Snippet', { exact: true }).fill(JSON.stringify({ mcpServers }));
  const plan = dialog.getByRole('list', { name: 'Servers to add' });
  await plan.getByText('will be added').waitFor();
  expect(await plan.getByRole('listitem').allTextContents()).toEqual([
    expect.stringMatching(/^pastedwill be added/),
    expect.stringMatching(/^no goodcannot be added.*"kommand" is not a known key/),
  ]);
  expect(readFileSync(gateway.configFile, 'utf8')).not.toContain('pasted');
  await dialog.getByRole('button', { name: 'Add 1 server' }).click();
  await dialog.getByRole('list', { name: 'Added servers' }).getByText('not added').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row', { name: /pasted/ });
  await row.getByText('Ready').waitFor();
  await row.getByText('18 tools').waitFor();
  expect(JSON.parse(readFileSync(gateway.configFile, 'utf8'))).toMatchObject({
    mcpServers: { pasted: mcpServers.pasted },
  });
  const client = await gateway.client();
  await waitForTool(client, 'pasted__echo');
  await client.close();
  expect(dashboard.complaints).toEqual([]);
});

test('servers page: previews a registry server before it is added', async () => {
  const weather = {
    name: 'io.github.me/weather',
    description: 'Forecasts <b>for</b> cities',
    version: '1.2.3',
    remotes: [{ type: 'streamable-http', url: 'http://127.0.0.1:9/mcp' }],
  };
  const registry = createServer((_, response) => {
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ servers: [{ server: weather }] }));
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  const { port } = registry.address() as AddressInfo;
  try {
    const env = { TRUNKLINE_REGISTRY: `http://127.0.0.1:${port}` };
    await using dashboard = await openDashboard({ mcpServers: {}, env });
    const { gateway, page } = dashboard;
    await dashboard.goto('/servers');
    await page.getByRole('button', { name: 'Search the registry' }).click();
    await page.getByLabel('Search the MCP registry').fill('weather');
    await page.getByText('Forecasts <b>for</b> cities').waitFor();
    await page.getByRole('button', { name: 'Add io.github.me/weather' }).click();
    expect(await page.getByRole('textbox', { name: 'URL' }).inputValue()).toBe('http://127.0.0.1:9/mcp');
    await page.getByRole('textbox', { name: 'Name' }).fill('rain');
    await page.getByRole('textbox', { name: 'Name' }).press('Enter');
    await page.getByRole('heading', { name: 'rain' }).waitFor();
    expect(JSON.parse(readFileSync(gateway.configFile, 'utf8'))).toMatchObject({
      mcpServers: { rain: { url: 'http://127.0.0.1:9/mcp' } },
    });
    expect(dashboard.complaints).toEqual([]);
  } finally {
    registry.close();
    registry.closeAllConnections();
  }
});

test('servers page: edits an entry without showing or losing its secrets', async () => {
  const { command, args, env } = fixture('plain');
  const entry = { command, args, env: { ...env, API_TOKEN: SECRET, OLD: '1' } };
  await using dashboard = await openDashboard({ mcpServers: { one: entry } });
  const { gateway, page } = dashboard;
  const written = (): unknown =>
    (JSON.parse(readFileSync(gateway.configFile, 'utf8')) as { mcpServers: { one: unknown } }).mcpServers.one;
  await dashboard.goto('/servers?server=one&tab=entry');
  await page.getByLabel('Value of API_TOKEN').waitFor();
  expect(await page.getByLabel('Value of API_TOKEN').inputValue()).toBe('•••');
  await page.getByRole('button', { name: 'Remove OLD' }).click();
  await page.getByLabel('Description').fill('The one and only');
  await page.getByText('Changed: env, description').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('one was changed: env.OLD, description.').waitFor();
  const edited = { ...entry, env: { ...env, API_TOKEN: SECRET }, description: 'The one and only' };
  expect(written()).toEqual(edited);
  await page.getByText('No changes.').waitFor();

  await page.getByText('JSON', { exact: true }).click();
  const raw = page.getByLabel('Entry of one as JSON');
  const shown = await raw.inputValue();
  expect(shown).toContain('"API_TOKEN": "•••"');
  await raw.fill(shown.replace('The one and only', 'Another'));
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('one was changed: description.').waitFor();
  expect(written()).toEqual({ ...edited, description: 'Another' });
  expect(await page.content()).not.toContain(SECRET);
  expect(dashboard.complaints).toEqual([]);
});

test('servers page: does not overwrite a concurrent change', async () => {
  await using dashboard = await openDashboard({ mcpServers: { one: fixture('plain') } });
  const { gateway, page } = dashboard;
  await dashboard.goto('/servers?server=one&tab=entry');
  await page.getByLabel('Description').fill('Mine');
  const isChanged = await page.evaluate(async () => {
    const body = JSON.stringify({ changes: { description: 'Theirs' } });
    const headers = { 'x-trunkline': '1', 'content-type': 'application/json' };
    return (await fetch('/api/servers/one', { method: 'PATCH', headers, body })).ok;
  });
  expect(isChanged).toBe(true);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('was changed elsewhere; your changes were not saved').waitFor();
  expect(readFileSync(gateway.configFile, 'utf8')).toContain('Theirs');
  expect(await page.getByLabel('Description').inputValue()).toBe('Mine');
});

describe('server problems', () => {
  test('servers page: shows a problem with its retry counter and offers actions to fix it', async () => {
    await using dashboard = await openDashboard({
      mcpServers: { lost: { url: 'http://127.0.0.1:9/mcp' }, off: { ...fixture('plain'), enabled: false } },
    });
    const { page } = dashboard;
    await dashboard.goto('/servers');
    const lost = page.getByRole('row', { name: /lost/ });
    await lost.getByText(/Tried \d+ times?, (next in|retrying now)/).waitFor();
    await lost.getByText('nothing listens at 127.0.0.1:9').waitFor();
    await page.getByRole('button', { name: 'Enable: off' }).click();
    await page.getByRole('row', { name: /off/ }).getByText('Ready').waitFor();

    await lost.getByRole('link', { name: 'lost' }).click();
    await page.getByRole('button', { name: 'Try now: lost' }).click();
    await page.getByRole('status').getByText('cannot be reached').waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog', { name: 'Remove lost?' }).getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('status').getByText('lost was removed').waitFor();
    await page.getByRole('row', { name: /off/ }).waitFor();
    await eventually(async () => expect(await lost.count()).toBe(0));
  });

  test('servers page: updates the number of running calls live', async () => {
    await using dashboard = await openDashboard({ mcpServers: { one: fixture('plain') } });
    const { gateway, page } = dashboard;
    await dashboard.goto('/servers');
    const row = page.getByRole('row', { name: /one/ });
    await row.getByText('Ready').waitFor();
    const client = await gateway.client();
    await waitForTool(client, 'one__crash');
    const slow = client.callTool('one__slow', { ms: 60_000 }, { withinMs: 60_000 }).catch(() => 'ended');
    await row.getByText('1 running').waitFor();
    await client.callTool('one__crash').catch(() => {});
    await slow;
    await eventually(async () => expect(await row.getByText('1 running').count()).toBe(0));
    await client.close();
  });
});

test('servers page: shows the log and processes of a running server live', async () => {
  const mcpServers = { one: fixture('launcher'), loud: fixture('floods-stderr', '--bytes', '4000') };
  await using dashboard = await openDashboard({ mcpServers });
  const { gateway, page } = dashboard;
  const client = await gateway.client();
  await waitForTool(client, 'loud__echo');
  await dashboard.goto('/servers?server=loud&tab=log');
  const log = page.getByRole('log', { name: 'Log of loud' });
  await log.getByText('something went slightly wrong').first().waitFor();
  expect(await log.getByText('the last line before the call').count()).toBe(0);
  await client.callTool('loud__echo', { text: 'a' });
  await log.getByText('the last line before the call').waitFor();
  await waitForTool(client, 'one__echo');
  await client.close();

  await dashboard.goto('/servers?server=one&tab=processes');
  await page.getByText(/^3 processes, [\d.]+ MB in total$/).waitFor();
  expect(await page.locator('.processes tbody tr').allTextContents()).toEqual([
    expect.stringMatching(/^node\d+.*MB/),
    expect.stringMatching(/^└ sh\d+/),
    expect.stringMatching(/^└ node\d+.*MB/),
  ]);
});

test('servers page: has no serious accessibility problem in light and dark mode', async () => {
  const mcpServers = {
    one: fixture('plain'),
    lost: { url: 'http://127.0.0.1:9/mcp' },
    off: { command: 'x', enabled: false },
  };
  await using dashboard = await openDashboard({ mcpServers });
  const { page } = dashboard;
  const views = [
    ['/servers', page.getByText('Tried')],
    ['/servers?server=lost', page.getByText('nothing listens')],
    ['/servers?server=one', page.getByText('A server for tests of the gateway')],
    ['/servers?server=one&tab=offers', page.getByText('one__echo')],
    ['/servers?server=one&tab=log', page.getByRole('tabpanel').getByText('log')],
    ['/servers?server=one&tab=processes', page.getByText('in total')],
    ['/servers?server=one&tab=entry', page.getByText('No changes')],
    ['/servers?add=form', page.getByLabel('Command')],
    ['/servers?add=paste', page.getByLabel('Snippet', { exact: true })],
    ['/servers?add=registry', page.getByLabel('Search the MCP registry')],
  ] as const;
  const problems: string[] = [];
  for (const [path, element] of views) {
    await dashboard.goto(path);
    await element.first().waitFor();
    problems.push(...(await seriousProblems(page)).map((problem) => `${path}: ${problem}`));
  }
  expect(problems).toEqual([]);
});

test('servers page: opens a log of long lines at its newest line on a phone', async () => {
  const noisy = fixture('floods-stderr', '--bytes', '40000');
  await using dashboard = await openDashboard({ mcpServers: { one: noisy }, width: 390 });
  const { gateway, page } = dashboard;
  const client = await gateway.client();
  await waitForTool(client, 'one__echo');
  await client.callTool('one__echo', { text: 'x' });
  await client.close();
  await dashboard.goto('/servers?server=one&tab=log');
  const log = page.getByRole('log', { name: 'Log of one' });
  await log.getByText('the last line before the call').waitFor();
  const below = async (): Promise<number> =>
    log.evaluate((box) => Math.round(box.scrollHeight - box.scrollTop - box.clientHeight));
  await eventually(async () => expect(await below()).toBeLessThan(2));
  expect(await log.evaluate((box) => box.scrollTop)).toBeGreaterThan(1000);
});
