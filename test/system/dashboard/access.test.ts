import { expect, test } from 'vitest';

import { fixture } from '../../support/fixture.ts';
import { listToolNamesAt } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { openDashboard } from './support.ts';
import { needs } from '../../support/needs.ts';

needs('chromium');

checkLeaks();

test('access page: creates a key, previews what it sees and revokes it', async () => {
  await using dashboard = await openDashboard({
    mcpServers: { one: fixture('plain'), two: fixture('structured') },
    config: {
      startup: { listWait: '60s' },
      auth: { keys: true },
      profiles: { some: { description: 'One of two.', servers: ['two'] } },
    },
  });
  const { page } = dashboard;
  await dashboard.goto('/access');
  await page.getByText('No keys yet').waitFor();
  await page.getByRole('button', { name: 'Create a key' }).click();
  const form = page.getByRole('dialog', { name: 'Create a key' });
  await form.getByLabel('Profile').selectOption('some');
  await form.getByRole('textbox', { name: 'Name' }).fill('ci');
  await page.keyboard.press('Enter');
  const createdDialog = page.getByRole('dialog', { name: 'The key "ci"' });
  const entry = JSON.parse(await createdDialog.locator('pre').last().innerText()) as {
    mcpServers: { trunkline: { url: string; headers: { Authorization: string } } };
  };
  const { url, headers } = entry.mcpServers.trunkline;
  const key = await createdDialog.locator('pre').first().innerText();
  expect(headers.Authorization).toBe(`Bearer ${key}`);
  // A click outside does not close the dialog, because the key is shown only once.
  await page.mouse.click(5, 5);
  await createdDialog.getByRole('button', { name: 'I have copied it' }).click();
  await createdDialog.waitFor({ state: 'detached' });
  expect(await page.locator('body').innerText()).not.toContain(key);

  expect(await listToolNamesAt(url)).toBe(401);
  expect(await listToolNamesAt(url, { key })).toContain('two__fits');
  const row = page.getByRole('row', { name: /ci/ });
  await dashboard.goto('/access');
  await row.getByText(/ago|now/).waitFor();
  await page.getByRole('combobox', { name: 'Caller' }).selectOption('Key ci');
  await page.getByText('8 of 26 tools visible').waitFor();
  const tools = page.getByRole('grid', { name: 'Tools of this caller' });
  expect(await tools.getByRole('row', { name: /two__fits/ }).innerText()).toContain('visible');
  await page.getByRole('searchbox', { name: 'Search by name' }).fill('one__echo');
  await tools.getByRole('row', { name: /hidden.*one__echo/ }).waitFor();

  await page.getByRole('button', { name: 'Revoke ci' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('"ci" was revoked.').waitFor();
  expect(await listToolNamesAt(url, { key })).toBe(401);
  await page.getByText('No keys yet').waitFor();
  expect(dashboard.complaints).toEqual([]);
});
