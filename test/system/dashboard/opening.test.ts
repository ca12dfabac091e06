import { expect, test } from 'vitest';

import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { waitForValue } from '../../support/eventually.ts';
import { SharedHome } from '../../support/shared-home.ts';
import { createRecordingBrowser } from '../../support/recording-browser.ts';
import { openDashboard } from './support.ts';
import { needs } from '../../support/needs.ts';

needs('chromium');

checkLeaks();

test('dashboard command: opens a page that signs the browser in', async () => {
  await using dashboard = await openDashboard({ mcpServers: { files: fixture('plain') } });
  const { gateway, page, context } = dashboard;
  await context.clearCookies();
  const browser = createRecordingBrowser();
  const { home, configFile } = gateway;
  const shared = new SharedHome({ mcpServers: {}, home, env: { BROWSER: browser.program } });
  await shared.command('dashboard', '--config', configFile);
  const pageUrl = await waitForValue(() => browser.openedPages().at(-1), { what: 'A page' });
  await page.goto(pageUrl);
  await page.waitForURL(`${new URL(gateway.url).origin}/`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('link', { name: 'files' }).first().waitFor();
  // The browser opens a local page, which signs it in; nothing else leaves the dashboard.
  expect(dashboard.complaints).toEqual([`requested ${pageUrl}`]);
});
