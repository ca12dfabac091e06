import { expect, test } from 'vitest';

import { waitForTool } from '../../support/client-helpers.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { needs } from '../../support/needs.ts';
import { openDashboard, watchPage } from './support.ts';

needs('chromium');

checkLeaks();

const NAME = `<b>z</b>${'\u0300'.repeat(40)}${'n'.repeat(300)} \u202Edesrever`;

test('hostile layout: long words, many lines and stacked marks leave every page usable', async () => {
  await using dashboard = await openDashboard({
    mcpServers: {
      it: fixture('hostile-layout'),
      held: { ...fixture('hostile-layout'), trust: 'manual', description: NAME, args: [] },
      [NAME]: {
        ...fixture('plain'),
        description: NAME.repeat(20),
        env: { [`A${'B'.repeat(3000)}`]: NAME },
      },
    },
    config: {
      startup: { listWait: '60s' },
      audit: { arguments: true, results: true },
      profiles: { odd: { description: NAME.repeat(20), servers: ['it'] } },
    },
  });
  const { gateway, page } = dashboard;
  const { problems, check } = await watchPage(page);
  const client = await gateway.client({ clientInfo: { name: NAME, version: NAME } });
  await waitForTool(client, 'it__odd');
  const tools = ['odd', 'word', 'lines', 'stack', 'wide', 'fails', 'links'];
  for (const name of tools)
    await client.callTool(`it__${name}`, { [NAME]: NAME, a: 'x'.repeat(100_000) }).catch(() => {});
  await client.close();

  const open = async (path: string): Promise<void> => {
    await dashboard.goto(path);
    await check(path);
  };
  const servers = ['it', 'held', encodeURIComponent(NAME)];
  for (const path of ['/', '/servers', '/approvals', '/tools', '/activity', '/access']) await open(path);
  for (const server of servers)
    for (const tab of ['about', 'offers', 'log', 'processes', 'entry'])
      await open(`/servers?server=${server}&tab=${tab}`);
  for (const name of tools) {
    await open(`/tools?tool=it__${name}`);
    for (const tab of ['Input', 'Definition', 'Try it']) {
      await page.getByRole('tab', { name: tab }).click();
      await check(`${name}, ${tab}`);
    }
    if (!['odd', 'word', 'wide'].includes(name)) {
      await page.getByRole('button', { name: 'Call', exact: true }).click();
      await page.getByRole('region', { name: 'Result of the call' }).waitFor();
      await check(`${name}, result`);
    }
  }
  await open('/approvals?server=it');
  for (const option of await page.getByRole('option').all()) {
    await option.click();
    await check(`approvals, ${(await option.innerText()).slice(0, 40)}`);
  }
  await open('/activity');
  for (const name of tools) {
    await dashboard.goto('/activity');
    await page
      .getByRole('row', { name: new RegExp(`${name} it`) })
      .first()
      .click();
    await check(`activity, ${name}`);
  }
  expect(problems).toEqual([]);
  expect(dashboard.complaints).toEqual([]);
});
