import { expect, test } from 'vitest';

import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { startProtectedServer } from '../../support/sign-in.ts';
import { openDashboard } from './support.ts';
import { needs } from '../../support/needs.ts';

needs('chromium');

checkLeaks();

test('sign-in button: completes the sign-in and shows the server as ready', async () => {
  await using server = await startProtectedServer({ consent: 'page', challengeScope: 'read' });
  await using dashboard = await openDashboard({ mcpServers: { it: { url: server.url } } });
  const { gateway, page, context } = dashboard;
  await dashboard.goto('/servers');
  const row = page.getByRole('row', { name: /it/ });
  await row.getByText('Needs sign-in').waitFor();
  const opened = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Sign in: it' }).click();
  const consent = await opened;
  await consent.waitForSelector('#allow');
  // The sign-in page must have no access to the page that opened it.
  expect(await consent.evaluate(() => (globalThis as { opener?: unknown }).opener)).toBeNull();
  await consent.click('#allow');
  await consent.getByText('You can close this tab.').waitFor();
  await row.getByText('Ready').waitFor();

  await row.getByRole('link', { name: 'it' }).click();
  await page.getByText('signed in as ada@example.com').waitFor();
  const client = await gateway.client();
  await waitForTool(client, 'it__whoami');
  expect(textOfResult(await client.callTool('it__whoami'))).toContain('ada@example.com');
  await client.close();
  await page.getByRole('button', { name: 'Sign out of it' }).click();
  await page.getByRole('button', { name: 'Sign in to it' }).waitFor();
});
