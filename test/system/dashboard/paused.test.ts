import { expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { openDashboard, seriousProblems } from './support.ts';
import { needs } from '../../support/needs.ts';

needs('chromium');

checkLeaks();

test('pause: is shown in the dashboard and can be ended there', async () => {
  const cli = commandHome();
  await using dashboard = await openDashboard({ mcpServers: { one: fixture('plain') }, home: cli.home });
  const { page } = dashboard;
  const side = page.getByRole('banner');
  await dashboard.goto('/tools');
  await side.getByText('live', { exact: true }).waitFor();
  expect(await cli.json(['pause'])).toMatchObject({ paused: true });
  await page.getByText('every call is refused').waitFor();
  await side.getByText('paused', { exact: true }).waitFor();
  expect(await seriousProblems(page)).toEqual([]);

  await dashboard.goto('/');
  await page.getByRole('heading', { name: 'All calls are paused' }).waitFor();
  await page.getByRole('button', { name: 'Resume calls' }).click();
  await side.getByText('live', { exact: true }).waitFor();
  await page.getByText('Nothing needs your attention.').waitFor();
  await page.getByText('every call is refused').waitFor({ state: 'detached' });
});
