import { writeFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { fixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { openDashboard } from './support.ts';
import { needs } from '../../support/needs.ts';

needs('chromium');

checkLeaks();

test('gateway restart: keeps an open page live and shows new servers', async () => {
  const mcpServers = { one: fixture('plain') };
  const first = await startGateway({ mcpServers, listen: 'http' });
  await using dashboard = await openDashboard({ mcpServers, gateway: first });
  const { page } = dashboard;
  await dashboard.goto('/servers');
  await page.getByRole('row', { name: /one/ }).getByText('Ready').waitFor();
  await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));

  await first[Symbol.asyncDispose]();
  await page.getByText('The connection to the gateway was lost').waitFor();
  // The loaded data stays visible.
  expect(await page.getByRole('row', { name: /one/ }).count()).toBe(1);
  const { port } = new URL(first.url);
  await using second = await startGateway({
    mcpServers: { ...mcpServers, two: fixture('plain') },
    home: first.home,
    listen: 'http',
    args: ['--expose', 'direct', '--http', `127.0.0.1:${port}`],
  });
  await page.getByRole('row', { name: /two/ }).getByText('Ready').waitFor();
  await page.getByText('The connection to the gateway was lost').waitFor({ state: 'detached' });
  expect(await page.evaluate(() => (globalThis as { isSamePage?: boolean }).isSamePage)).toBe(true);

  // The page is still live: a change of the file appears.
  writeFileSync(second.configFile, JSON.stringify({ mcpServers: { three: fixture('plain') } }));
  await page.getByRole('row', { name: /three/ }).getByText('Ready').waitFor();
  await page.getByRole('row', { name: /two/ }).waitFor({ state: 'detached' });
});
