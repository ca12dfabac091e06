import { expect, test } from 'vitest';

import { fixture } from '../support/fixture.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { found } from '../support/eventually.ts';
import { SharedHome } from '../support/shared-home.ts';
import { toldBrowser } from '../support/told-browser.ts';
import { openDashboard } from './support.ts';

checkLeaks();

test('the page that a browser is given leads into the dashboard, signed in', async () => {
  await using dashboard = await openDashboard({ mcpServers: { files: fixture('plain') } });
  const { gateway, page, context } = dashboard;
  await context.clearCookies();
  const browser = toldBrowser();
  const { home, configFile } = gateway;
  const shared = new SharedHome({ mcpServers: {}, home, env: { BROWSER: browser.program } });
  await shared.command('dashboard', '--config', configFile);
  const given = await found(() => browser.told().at(-1), { what: 'A page' });
  await page.goto(given);
  await page.waitForURL(`${new URL(gateway.url).origin}/`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(await page.getByRole('link', { name: 'files' }).count()).toBeGreaterThan(0);
});
