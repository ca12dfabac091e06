import { expect, test } from 'vitest';

import { fixture } from '../support/fixture.ts';
import { toolsAt } from '../support/http-caller.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { openDashboard } from './support.ts';

checkLeaks();

test('a key is made, used at the address of its profile, and refused once it is revoked', async () => {
  await using dashboard = await openDashboard({
    mcpServers: { one: fixture('plain'), two: fixture('structured') },
    config: {
      startup: { listWait: '10s' },
      auth: { keys: true },
      profiles: { some: { description: 'One of two.', servers: ['two'] } },
    },
  });
  const { page } = dashboard;
  await dashboard.goto('/access');
  await page.getByText('No keys yet').waitFor();
  await page.getByRole('button', { name: 'Make a key' }).click();
  const form = page.getByRole('dialog', { name: 'Make a key' });
  await form.getByLabel('Profile').selectOption('some');
  await form.getByRole('textbox', { name: 'Name' }).fill('ci');
  await page.keyboard.press('Enter');
  const made = page.getByRole('dialog', { name: 'The key "ci"' });
  const entry = JSON.parse(await made.locator('pre').last().innerText()) as {
    mcpServers: { trunkline: { url: string; headers: { Authorization: string } } };
  };
  const { url, headers } = entry.mcpServers.trunkline;
  const key = await made.locator('pre').first().innerText();
  expect(headers.Authorization).toBe(`Bearer ${key}`);
  // A press beside it does not lose what is shown only once.
  await page.mouse.click(5, 5);
  await made.getByRole('button', { name: 'I have it' }).click();
  await made.waitFor({ state: 'detached' });
  expect(await page.locator('body').innerText()).not.toContain(key);

  expect(await toolsAt(url)).toBe(401);
  expect(await toolsAt(url, { key })).toContain('two__fits');
  const row = page.getByRole('row', { name: /ci/ });
  await dashboard.goto('/access');
  await row.getByText(/ago|now/).waitFor();
  await page.getByLabel('Who').selectOption('Key ci');
  await page.getByText('8 tools of 26 seen').waitFor();
  const seen = page.getByRole('grid', { name: 'What this caller would see' });
  expect(await seen.getByRole('row', { name: /two__fits/ }).innerText()).toContain('sees');
  await page.getByRole('searchbox', { name: 'Search by name' }).fill('one__echo');
  await seen.getByRole('row', { name: /hidden.*one__echo/ }).waitFor();

  await page.getByRole('button', { name: 'Revoke ci' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('"ci" is revoked.').waitFor();
  expect(await toolsAt(url, { key })).toBe(401);
  await page.getByText('No keys yet').waitFor();
  expect(dashboard.complaints).toEqual([]);
});
