import { expect, test } from 'vitest';

import { commandHome } from '../support/command.ts';
import { fixture } from '../support/fixture.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { openDashboard, seriousProblems } from './support.ts';

checkLeaks();

test('a pause shows on every page while it lasts, and is ended there', async () => {
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
  await page.getByRole('button', { name: 'Resume: let calls through again' }).click();
  await side.getByText('live', { exact: true }).waitFor();
  await page.getByText('Nothing waits for you.').waitFor();
  expect(await page.getByText('every call is refused').count()).toBe(0);
});
