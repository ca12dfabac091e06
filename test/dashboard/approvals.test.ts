import { expect, test } from 'vitest';

import { ownCode, said, untilListed } from '../support/asking.ts';
import { fixture, fixtureLog } from '../support/fixture.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { openDashboard, seriousProblems } from './support.ts';

checkLeaks();

const config = { startup: { listWait: '10s' } };
/** Changed, and nothing that the scanner would mind. */
const changing = fixture('changes-a-definition', '--later', 'Returns twice the given text');

test('a changed tool is approved after its difference was read, and only as it was read', async () => {
  await using dashboard = await openDashboard({
    mcpServers: { one: changing },
    config,
  });
  const { gateway, page } = dashboard;
  const client = await gateway.client();
  await untilListed(client, 'one__changing');
  await dashboard.goto('/approvals');
  await page.getByText('Nothing waits for you').waitFor();

  await client.callTool('one__change');
  // What comes while somebody looks needs no reload.
  const diff = page.getByRole('region', { name: 'Approved and Offered now' });
  await diff.waitFor();
  expect(await diff.locator('td.gone').allTextContents()).toEqual([
    'removed: description: Returns the given text.',
  ]);
  expect(await diff.locator('td.come mark').allTextContents()).toEqual(['twice ', ' (revision 2)']);

  // Another change while one reads: told, and nothing can be approved before it was seen.
  await client.callTool('one__change');
  await page.getByRole('alert').getByText('changed again while you were reading').waitFor();
  expect(await page.getByRole('button', { name: 'Approve', exact: true }).isDisabled()).toBe(true);
  await page.keyboard.press('a');
  expect(await diff.locator('td.come').allTextContents()).toEqual([expect.stringContaining('revision 2')]);
  await page.getByRole('button', { name: 'Show it as it is now' }).click();
  await diff.getByText('revision 3').waitFor();

  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByRole('status').getByText('changing approved.').waitFor();
  await page.getByText('Nothing waits for you').waitFor();
  await untilListed(client, 'one__changing');
  expect(said(await client.callTool('one__changing', { text: 'a' }))).toBe('revision 3: a');
  await client.close();
  expect(dashboard.complaints).toEqual([]);
});

test('what changed without the page knowing is not approved', async () => {
  await using dashboard = await openDashboard({
    mcpServers: { one: changing },
    config,
  });
  const { gateway, page } = dashboard;
  const client = await gateway.client();
  await untilListed(client, 'one__changing');
  await client.callTool('one__change');
  await dashboard.goto('/approvals?server=one');
  await page.getByText('revision 2').waitFor();
  // As with a connection that is late.
  await page.route('**/api/approvals', async (route) =>
    route.request().method() === 'GET' ? route.abort() : route.continue(),
  );
  await client.callTool('one__change');
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByText('changing is not what you looked at any more; nothing was approved.').waitFor();
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['one__change']);
  await client.close();
});

test('calls that a rule asks about are decided with one key', async () => {
  const entry = fixture('plain');
  const rules = [{ id: 'ask-first', effect: 'ask', names: ['echo'], message: 'Echoes need a person.' }];
  await using dashboard = await openDashboard({
    mcpServers: { one: entry },
    config: { ...config, policy: { rules, askWait: '60s' } },
  });
  const { gateway, page } = dashboard;
  const client = await gateway.client();
  await untilListed(client, 'one__echo');
  await dashboard.goto('/approvals');
  await page.getByText('Nothing waits for you').waitFor();
  const first = client.callTool('one__echo', { text: '<b>hello</b>' }, { withinMs: 60_000 });
  const pane = page.getByRole('article');
  await pane.getByText('text: <b>hello</b>').waitFor();
  await pane.getByText('Echoes need a person.').waitFor();
  await pane.getByText(/^[01]:\d\d left$/).waitFor();
  expect(fixtureLog(entry).of('call')).toHaveLength(0);
  await page.keyboard.press('a');
  expect(said(await first)).toBe('<b>hello</b>');

  await page.getByText('Nothing waits for you').waitFor();
  const second = client.callTool('one__echo', { text: 'again' }, { withinMs: 60_000 });
  await pane.getByText('text: again').waitFor();
  await page.keyboard.press('r');
  expect(ownCode(await second)).toBe('NOT_APPROVED');
  expect(fixtureLog(entry).of('call')).toHaveLength(1);
  await client.close();
});

test('a server that waits is started by approving it, and what it offers by the keyboard alone', async () => {
  const entry = { ...fixture('hidden-characters'), trust: 'manual' };
  await using dashboard = await openDashboard({ mcpServers: { shy: entry }, config });
  const { gateway, page } = dashboard;
  await dashboard.goto('/servers');
  await page.getByRole('button', { name: 'Review: shy' }).click();
  await page.getByText('Nothing of this server runs before you approve').waitFor();
  expect(fixtureLog(entry).of('started')).toHaveLength(0);
  await page.keyboard.press('a');
  const option = (name: string) => page.getByRole('option', { name: new RegExp(name) });
  await option('bidirectional').waitFor();
  expect(await seriousProblems(page)).toEqual([]);

  await option('bidirectional').click();
  const findings = page.getByRole('region', { name: 'Findings' });
  await findings.getByText('Characters that do not show').first().waitFor();
  expect(await findings.textContent()).toContain(String.raw`\u{202e}`);
  expect(await page.getByRole('article').textContent()).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
  // The scanner's findings are asked about once more; Escape leaves everything as it is.
  await page.keyboard.press('a');
  await page.getByRole('dialog', { name: 'Approve bidirectional?' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('r');
  await page.getByRole('status').getByText('bidirectional refused.').waitFor();

  await option('homoglyph').click();
  await page.keyboard.press('ArrowUp');
  expect(await option('homoglyph').getAttribute('aria-selected')).toBe('false');
  await page.keyboard.press('ArrowDown');
  expect(await option('homoglyph').getAttribute('aria-selected')).toBe('true');
  await page.keyboard.press('a');
  await page.getByRole('status').getByText('homoglyph approved.').waitFor();
  await option('tags').click();
  await page.keyboard.press('a');
  const dialog = page.getByRole('dialog', { name: 'Approve tags?' });
  await dialog.getByRole('button', { name: 'Approve' }).press('Enter');
  await page.getByRole('status').getByText('tags approved.').waitFor();
  const client = await gateway.client();
  const listed = await untilListed(client, 'shy__homoglyph');
  expect(listed.map(({ name }) => name).toSorted()).toEqual(['shy__homoglyph', 'shy__tags']);
  await client.close();
  expect(dashboard.complaints).toEqual([]);
});

test('after a server, what it offers is looked at next, and not what another one has', async () => {
  const manual = { ...fixture('plain'), trust: 'manual' };
  await using dashboard = await openDashboard({ mcpServers: { one: manual, two: manual }, config });
  const { page } = dashboard;
  await dashboard.goto('/approvals?server=one');
  const pane = page.getByRole('article');
  await pane.getByRole('heading', { name: 'one' }).waitFor();
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByText('one approved. It is started now').waitFor();
  await pane.getByRole('link', { name: 'one', exact: true }).waitFor();
  expect(await page.getByRole('option', { selected: true }).count()).toBe(1);

  await dashboard.goto('/servers');
  await page.getByRole('button', { name: 'Review: one' }).click();
  await pane.getByRole('link', { name: 'one', exact: true }).waitFor();
  expect(dashboard.complaints).toEqual([]);
});
