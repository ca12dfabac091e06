import { expect, test } from 'vitest';

import { waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { openDashboard } from './support.ts';
import { needs } from '../../support/needs.ts';

needs('chromium');

checkLeaks();

test('clients page: shows a client while it is connected, and the pause button stops its calls', async () => {
  await using dashboard = await openDashboard({ mcpServers: { one: fixture('plain') } });
  const { gateway, page } = dashboard;
  await dashboard.goto('/clients');
  await page.getByText('No client is connected').waitFor();
  const client = await gateway.client();
  await waitForTool(client, 'one__echo');
  await client.callTool('one__echo', { text: 'a' });
  const row = page.getByRole('grid', { name: 'Clients' }).getByRole('row', { name: /2025-11-25/ });
  await row.waitFor();

  await page.getByRole('button', { name: 'Pause all calls' }).click();
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByRole('button', { name: 'Resume calls' }).waitFor();
  const refused = await client.callTool('one__echo', { text: 'b' });
  expect(JSON.stringify(refused)).toContain('paused');
  await page.getByRole('button', { name: 'Resume all calls' }).click();
  await page.getByRole('button', { name: 'Pause all calls' }).waitFor();
  await client.callTool('one__echo', { text: 'c' });

  await client.close();
  await page.getByText('No client is connected').waitFor();
  expect(dashboard.complaints).toEqual([]);
});

test('keyboard: the search box passes arrow down and Enter to the results, and a wrong address has a page', async () => {
  await using dashboard = await openDashboard({ mcpServers: { one: fixture('plain') } });
  const { gateway, page } = dashboard;
  const client = await gateway.client();
  await waitForTool(client, 'one__echo');
  await client.close();
  await dashboard.goto('/tools');
  const search = page.getByRole('searchbox', { name: 'Search tools' });
  await search.fill('one__echo');
  await page.getByRole('link', { name: 'one__echo', exact: true }).waitFor();
  await search.press('ArrowDown');
  const focused = 'document.activeElement.getAttribute("aria-label")';
  expect(await page.evaluate(focused)).toBe('Tools');
  await search.press('Enter');
  await eventually(() => Promise.resolve(new URL(page.url()).searchParams.has('tool')));

  await dashboard.goto('/no-such-page');
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await page.getByRole('link', { name: 'Go to the overview' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});

test('try a tool: fills in earlier arguments after a reload, and forgets them', async () => {
  await using dashboard = await openDashboard({ mcpServers: { one: fixture('plain') } });
  const { gateway, page } = dashboard;
  const client = await gateway.client();
  await waitForTool(client, 'one__echo');
  await client.close();
  await dashboard.goto('/tools?tool=one__echo');
  await page.getByLabel('text').fill('remember me');
  await page.getByRole('button', { name: 'Call', exact: true }).click();
  await page.getByRole('region', { name: 'Result of the call' }).getByText('remember me').waitFor();
  await page.reload();
  await page.getByText('Earlier arguments (1)').click();
  await page.getByRole('button', { name: '{"text":"remember me"}', exact: true }).click();
  expect(await page.getByRole('textbox', { name: /^text/ }).inputValue()).toBe('remember me');
  await page.getByRole('button', { name: /^Forget/ }).click();
  await page.getByText('Earlier arguments').waitFor({ state: 'detached' });
  expect(await page.evaluate('localStorage.getItem("trunkline.calls")')).toBe('{}');
});
