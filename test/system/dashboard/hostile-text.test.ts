import { expect, test } from 'vitest';

import { waitForTool } from '../../support/client-helpers.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { openDashboard } from './support.ts';
import { needs } from '../../support/needs.ts';

needs('chromium');

checkLeaks();

const NAME = 'evil <img src=x onerror="globalThis.ran=1"> **x**';

test('hostile text: is shown as plain text on the servers and approvals pages', async () => {
  const mcpServers = {
    it: fixture('hostile-text'),
    shy: { ...fixture('hostile-text'), trust: 'manual' },
    // The names of servers come from files that others may have written.
    [NAME]: { ...fixture('plain'), description: '<script>globalThis.ran=2</script>' },
  };
  await using dashboard = await openDashboard({ mcpServers, config: { startup: { listWait: '60s' } } });
  const { gateway, page } = dashboard;
  const client = await gateway.client();
  await waitForTool(client, 'it__poisoned');
  await client.callTool('it__change');
  await client.close();

  const expectInert = async (text: string): Promise<void> => {
    await page.getByText(text).first().waitFor();
    // No element was created from the text of a server.
    expect(
      await page.locator('main :is(img, script, iframe, style, object, [onerror], [onload])').count(),
    ).toBe(0);
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    expect(await page.evaluate(() => (globalThis as { ran?: unknown }).ran)).toBeUndefined();
    expect(await page.locator('main').textContent()).not.toMatch(/[\u001B\u202E]/);
  };
  await dashboard.goto('/servers');
  await expectInert(NAME);
  await dashboard.goto(`/servers?server=${encodeURIComponent(NAME)}&tab=entry`);
  await expectInert('<script>globalThis.ran=2</script>');
  await dashboard.goto('/servers?server=it');
  await expectInert(`onerror="globalThis.ran='instructions'"`);
  await dashboard.goto('/servers?server=it&tab=offers');
  await expectInert(`onerror="globalThis.ran='prompt'"`);
  await dashboard.goto('/servers?server=it&tab=log');
  await expectInert(`onerror="globalThis.ran='log'"`);

  await dashboard.goto('/approvals?server=it');
  await page.getByRole('region', { name: 'Approved and Offered now' }).getByText('revision 2').waitFor();
  await expectInert(`onerror="globalThis.ran='description'"`);
  await page.getByRole('option', { name: /The server itself/ }).click();
  await page.keyboard.press('a');
  await page.getByRole('option', { name: /long/ }).click();
  await page.getByRole('button', { name: /Show .* more characters/ }).click();
  await expectInert('x'.repeat(100_000));
  await page
    .getByRole('option', { name: /poisoned/ })
    .last()
    .click();
  await page.getByRole('region', { name: 'Findings' }).waitFor();
  await expectInert(`onerror="globalThis.ran='parameter'"`);
  await page.getByRole('option', { name: /Instructions/ }).click();
  await expectInert(`onerror="globalThis.ran='instructions'"`);
  expect(dashboard.complaints).toEqual([]);
});
