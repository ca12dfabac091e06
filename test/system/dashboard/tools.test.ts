import { readFileSync } from 'node:fs';

import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { openDashboard } from './support.ts';
import { needs } from '../../support/needs.ts';

needs('chromium');

checkLeaks();

const patience = { withinMs: 20_000 };
const config = { startup: { listWait: '60s' } };

test('tools page: finds and calls a tool, which the activity page lists, filters and exports', async () => {
  const entry = fixture('plain');
  await using dashboard = await openDashboard({ mcpServers: { one: entry, two: fixture('plain') }, config });
  const { gateway, page } = dashboard;
  const client = await gateway.client();
  await waitForTool(client, 'two__echo');
  await client.callTool('two__echo', { text: 'of another' });
  await client.close();

  await dashboard.goto('/tools');
  const search = page.getByRole('searchbox', { name: 'Search tools' });
  await search.waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('say it back');
  await page.getByLabel('Server').selectOption('one');
  await page.getByRole('link', { name: 'one__echo', exact: true }).waitFor();
  await page.getByRole('grid', { name: 'Tools' }).focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  const call = page.getByRole('button', { name: 'Call', exact: true });
  await page.getByText('Missing: text').waitFor();
  // The focus moves to the new page.
  expect(await page.evaluate('document.activeElement.id')).toBe('main');
  expect(await call.isDisabled()).toBe(true);
  await page.getByLabel('text').fill('a first line');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('a second');
  await page.keyboard.press('Enter');
  const result = page.getByRole('region', { name: 'Result of the call' });
  await result.getByText('a second').waitFor();
  expect(fixtureLog(entry).of('call')).toHaveLength(1);
  expect(await result.locator('pre').textContent()).toBe('a first line\na second');

  // Going back restores the search.
  await page.goBack();
  await eventually(async () => (await search.inputValue()) === 'say it back', patience);
  await eventually(async () => (await page.getByLabel('Server').inputValue()) === 'one', patience);

  await page.getByRole('link', { name: 'Activity' }).click();
  const table = page.getByRole('grid', { name: 'Records' });
  const rows = (name: RegExp) => table.getByRole('row', { name });
  await rows(/echo one.*dashboard/).waitFor();
  await rows(/echo two/).waitFor();
  await page.getByLabel('Server').selectOption('one');
  await rows(/echo two/).waitFor({ state: 'detached' });

  // New records that match the filters appear without a reload.
  const other = await gateway.client();
  await other.callTool('two__echo', { text: 'unseen' });
  await other.callTool('one__echo', { text: 'seen' });
  await other.close();
  await eventually(async () => (await rows(/echo one/).count()) === 2, patience);
  expect(await rows(/echo two/).count()).toBe(0);
  await page.getByRole('searchbox', { name: 'Caller' }).fill('DASHBOARD');
  await eventually(async () => (await rows(/echo one/).count()) === 1, patience);

  expect(await exported(page, 'Export JSONL')).toMatch(/^\{[^\n]*"entry":"echo"[^\n]*\}\n$/);
  expect(await exported(page, 'Export CSV')).toMatch(/^time,[^\n]*\n[^\n]*,one,echo,[^\n]*\n$/);
  await rows(/echo one/).click();
  const detail = page.getByRole('dialog', { name: 'echo' });
  await detail.getByText('dashboard over admin, profile default').waitFor();
  await page.keyboard.press('Escape');
  await detail.waitFor({ state: 'detached' });
  expect(dashboard.complaints).toEqual([]);
});

test('tools page: shows the elicitations of a call one after the other', async () => {
  const entry = fixture('asks-the-user');
  await using dashboard = await openDashboard({ mcpServers: { it: entry }, config });
  const { page } = dashboard;
  // Simulates a slow connection: the next question arrives before the response to the answer.
  await page.route('**/api/answer', async (route) => {
    const response = await route.fetch();
    await eventually(() => fixtureLog(entry).of('asked').length % 2 === 0, patience);
    await route.fulfill({ response });
  });
  await dashboard.goto('/tools?tool=it__ask-twice');
  await page.getByRole('textbox', { name: 'mark' }).fill('x');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'it asks a question' });
  await dialog.getByText('Your name?').waitFor();
  expect(await dialog.getByRole('button', { name: 'Answer' }).isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill('Ada');
  await page.keyboard.press('Enter');
  await dialog.getByText('Your town?').waitFor();
  await dialog.getByRole('textbox').fill('Bern');
  await dialog.getByRole('button', { name: 'Answer' }).click();
  const result = page.getByRole('region', { name: 'Result of the call' });
  await result.getByText('Bern').waitFor();
  await result.getByText('Ada').waitFor();

  await page.getByRole('button', { name: 'Call', exact: true }).click();
  await dialog.getByText('Your name?').waitFor();
  await page.keyboard.press('Escape');
  await dialog.getByText('Your town?').waitFor();
  await dialog.getByRole('button', { name: 'Decline' }).click();
  await result.getByText('cancel').waitFor();
  await result.getByText('decline').waitFor();
});

test('tools page: cancels a call on request and when the page is left', async () => {
  const entry = fixture('plain');
  await using dashboard = await openDashboard({ mcpServers: { one: entry }, config });
  const { page } = dashboard;
  await dashboard.goto('/tools?tool=one__slow');
  await page.getByRole('spinbutton').first().fill('60000');
  await page.keyboard.press('Enter');
  await page.getByText('Calling').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Cancelled. Changes that the tool already made are not undone.').waitFor();
  await eventually(() => fixtureLog(entry).of('cancelled').length === 1, patience);
  await page.getByRole('button', { name: 'Call', exact: true }).click();
  await page.getByText('Calling').waitFor();
  await eventually(() => fixtureLog(entry).of('call').length === 2, patience);
  await page.getByRole('link', { name: 'Overview' }).click();
  await eventually(() => fixtureLog(entry).of('cancelled').length === 2, patience);
  const cancelled = { tool: 'slow', wasRunning: true };
  expect(fixtureLog(entry).of('cancelled')).toMatchObject([cancelled, cancelled]);
});

async function exported(page: Page, name: string): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name }).click(),
  ]);
  return readFileSync(await download.path(), 'utf8');
}
