import { expect, test } from 'vitest';

import { untilListed } from '../support/asking.ts';
import { fixture } from '../support/fixture.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { openDashboard } from './support.ts';

checkLeaks();

const NAME = 'evil <img src=x onerror="globalThis.ran=1"> \u202Edesrever';

test('whatever servers and clients say is text, in every place of tools, results, activity and access', async () => {
  await using dashboard = await openDashboard({
    mcpServers: { it: fixture('hostile-text') },
    config: {
      startup: { listWait: '10s' },
      audit: { arguments: true, results: true },
      profiles: { odd: { description: '<script>globalThis.ran=2</script>', servers: ['it'] } },
    },
  });
  const { gateway, page } = dashboard;
  const client = await gateway.client({ clientInfo: { name: NAME, version: '<b>1</b>' } });
  await untilListed(client, 'it__poisoned');
  await client.callTool('it__poisoned', { '<script>': '<img src=x onerror="globalThis.ran=3">' });
  await client.close();
  const isInert = async (sign: string): Promise<void> => {
    await page.getByText(sign).first().waitFor();
    // Nothing in the page was made from what somebody else said.
    const made = 'img, script, iframe, style, object, audio, video, [onerror], [onload]';
    expect(await page.locator(`main :is(${made}), dialog :is(${made})`).count()).toBe(0);
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    expect(await page.evaluate(() => (globalThis as { ran?: unknown }).ran)).toBeUndefined();
    expect(await page.locator('body').innerText()).not.toMatch(/[\u001B\u202E]/);
    // Nor does it push the page apart.
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
  };

  await dashboard.goto('/tools');
  await isInert(`onerror="globalThis.ran='description'"`);
  await dashboard.goto('/tools?tool=it__poisoned');
  await isInert(`onerror="globalThis.ran='parameter'"`);
  for (const tab of ['Takes', 'Definition']) {
    await page.getByRole('tab', { name: tab }).click();
    await isInert(`onerror="globalThis.ran='parameter'"`);
  }
  await page.getByRole('tab', { name: 'Try it' }).click();
  await page.getByRole('textbox').fill('x');
  await page.getByRole('button', { name: 'Call', exact: true }).click();
  await isInert(`onerror="globalThis.ran='result'"`);
  await dashboard.goto('/tools?tool=it__long');
  await page.getByRole('button', { name: 'Show all of it' }).click();
  await isInert('x'.repeat(1000));

  await dashboard.goto('/tools?tool=it__media');
  await page.getByRole('button', { name: 'Call', exact: true }).click();
  await isInert(`onerror="globalThis.ran='json'"`);
  const result = page.getByRole('region', { name: 'What the call gave' });
  expect(await result.getByText('which is not shown').count()).toBe(6);
  expect(await result.getByRole('link').count()).toBe(0);
  await page.getByRole('tab', { name: 'As it came' }).click();
  await isInert('"image/svg+xml"');

  await dashboard.goto('/activity');
  await isInert('<img src=x onerror="globalThis.ran=1">');
  await page
    .getByRole('row', { name: /poisoned it.*evil/ })
    .first()
    .click();
  await isInert('<img src=x onerror=\\"globalThis.ran=3\\">');
  await isInert(`onerror=\\"globalThis.ran='result'\\"`);
  await dashboard.goto('/access');
  await isInert('<script>globalThis.ran=2</script>');
  expect(dashboard.complaints).toEqual([]);
});
