import { expect, test } from 'vitest';

import { waitForTool } from '../../support/client-helpers.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { openDashboard } from './support.ts';
import { needs } from '../../support/needs.ts';

needs('chromium');

checkLeaks();

const NAME = 'evil <img src=x onerror="globalThis.ran=1"> \u202Edesrever';

test('hostile text: is shown as plain text on the tools, activity and access pages', async () => {
  await using dashboard = await openDashboard({
    mcpServers: { it: fixture('hostile-text') },
    config: {
      startup: { listWait: '60s' },
      audit: { arguments: true, results: true },
      profiles: { odd: { description: '<script>globalThis.ran=2</script>', servers: ['it'] } },
    },
  });
  const { gateway, page } = dashboard;
  const client = await gateway.client({ clientInfo: { name: NAME, version: '<b>1</b>' } });
  await waitForTool(client, 'it__poisoned');
  await client.callTool('it__poisoned', { '<script>': '<img src=x onerror="globalThis.ran=3">' });
  await client.close();
  const expectInert = async (text: string): Promise<void> => {
    await page.getByText(text).first().waitFor();
    // No element was created from the text of a server or client.
    const elements = 'img, script, iframe, style, object, audio, video, [onerror], [onload]';
    expect(await page.locator(`main :is(${elements}), dialog :is(${elements})`).count()).toBe(0);
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    expect(await page.evaluate(() => (globalThis as { ran?: unknown }).ran)).toBeUndefined();
    expect(await page.locator('body').innerText()).not.toMatch(/[\u001B\u202E]/);
    // The text does not make the page wider than the window.
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
  };

  await dashboard.goto('/tools');
  await expectInert(`onerror="globalThis.ran='description'"`);
  await dashboard.goto('/tools?tool=it__poisoned');
  await expectInert(`onerror="globalThis.ran='parameter'"`);
  for (const tab of ['Input', 'Definition']) {
    await page.getByRole('tab', { name: tab }).click();
    await expectInert(`onerror="globalThis.ran='parameter'"`);
  }
  await page.getByRole('tab', { name: 'Try it' }).click();
  await page.getByRole('textbox').fill('x');
  await page.getByRole('button', { name: 'Call', exact: true }).click();
  await expectInert(`onerror="globalThis.ran='result'"`);
  await dashboard.goto('/tools?tool=it__long');
  await page.getByRole('button', { name: 'Show all' }).click();
  await expectInert('x'.repeat(1000));

  await dashboard.goto('/tools?tool=it__media');
  await page.getByRole('button', { name: 'Call', exact: true }).click();
  await expectInert(`onerror="globalThis.ran='json'"`);
  const result = page.getByRole('region', { name: 'Result of the call' });
  expect(await result.getByText('is not shown').count()).toBe(6);
  expect(await result.getByRole('link').count()).toBe(0);
  await page.getByRole('tab', { name: 'Raw' }).click();
  await expectInert('"image/svg+xml"');

  await dashboard.goto('/activity');
  await expectInert('<img src=x onerror="globalThis.ran=1">');
  await page
    .getByRole('row', { name: /poisoned it.*evil/ })
    .first()
    .click();
  await expectInert('<img src=x onerror=\\"globalThis.ran=3\\">');
  await expectInert(`onerror=\\"globalThis.ran='result'\\"`);
  await dashboard.goto('/access');
  await expectInert('<script>globalThis.ran=2</script>');
  expect(dashboard.complaints).toEqual([]);
});
