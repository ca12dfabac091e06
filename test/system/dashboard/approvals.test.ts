import { expect, test } from 'vitest';

import { gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { type OpenDashboard, openDashboard, seriousProblems } from './support.ts';
import { needs } from '../../support/needs.ts';

needs('chromium');

checkLeaks();

const config = { startup: { listWait: '60s' } };
/** Changes its definition to a text without findings. */
const changing = fixture('changes-a-definition', '--later', 'Returns twice the given text');

test('approvals page: shows the difference of a changed tool and approves only the shown version', async () => {
  await using dashboard = await openDashboard({
    mcpServers: { one: changing },
    config,
  });
  const { gateway, page } = dashboard;
  const client = await gateway.client();
  await waitForTool(client, 'one__changing');
  await dashboard.goto('/approvals');
  await page.getByText('Nothing is held for approval').waitFor();

  await client.callTool('one__change');
  // A new item appears without a reload.
  const diff = page.getByRole('region', { name: 'Approved and Offered now' });
  await diff.waitFor();
  expect(await diff.locator('td.removed').allTextContents()).toEqual([
    'removed: description: Returns the given text.',
  ]);
  expect(await diff.locator('td.added mark').allTextContents()).toEqual(['twice ', ' (revision 2)']);

  // After another change, the page shows a warning, and the new version cannot be approved unseen.
  await client.callTool('one__change');
  await page.getByRole('alert').getByText('changed again while you were reading').waitFor();
  expect(await page.getByRole('button', { name: 'Approve', exact: true }).isDisabled()).toBe(true);
  await page.keyboard.press('a');
  expect(await diff.locator('td.added').allTextContents()).toEqual([expect.stringContaining('revision 2')]);
  await page.getByRole('button', { name: 'Show the new version' }).click();
  await diff.getByText('revision 3').waitFor();

  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByRole('status').getByText('changing approved.').waitFor();
  await page.getByText('Nothing is held for approval').waitFor();
  await waitForTool(client, 'one__changing');
  expect(textOfResult(await client.callTool('one__changing', { text: 'a' }))).toBe('revision 3: a');
  await client.close();
  expect(dashboard.complaints).toEqual([]);
});

test('approvals page: does not approve a tool that changed without the page knowing', async () => {
  await using dashboard = await openDashboard({
    mcpServers: { one: changing },
    config,
  });
  const { gateway, page } = dashboard;
  const client = await gateway.client();
  await waitForTool(client, 'one__changing');
  await client.callTool('one__change');
  await dashboard.goto('/approvals?server=one');
  await page.getByText('revision 2').waitFor();
  // Simulates a slow connection: the page does not learn of the next change.
  await page.route('**/api/approvals', async (route) =>
    route.request().method() === 'GET' ? route.abort() : route.continue(),
  );
  await client.callTool('one__change');
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByText('changing changed after you opened it; nothing was approved.').waitFor();
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['one__change']);
  await client.close();
});

test('approvals page: approves and refuses calls of an ask rule with one key', async () => {
  const entry = fixture('plain');
  const rules = [{ id: 'ask-first', effect: 'ask', names: ['echo'], message: 'Echoes need approval.' }];
  await using dashboard = await openDashboard({
    mcpServers: { one: entry },
    config: { ...config, policy: { rules, askWait: '60s' } },
  });
  const { gateway, page } = dashboard;
  const client = await gateway.client();
  await waitForTool(client, 'one__echo');
  await dashboard.goto('/approvals');
  await page.getByText('Nothing is held for approval').waitFor();
  const first = client.callTool('one__echo', { text: '<b>hello</b>' }, { withinMs: 60_000 });
  const pane = page.getByRole('article');
  await pane.getByText('text: <b>hello</b>').waitFor();
  await pane.getByText('Echoes need approval.').waitFor();
  await pane.getByText(/^[01]:\d\d left$/).waitFor();
  expect(fixtureLog(entry).of('call')).toHaveLength(0);
  await page.keyboard.press('a');
  expect(textOfResult(await first)).toBe('<b>hello</b>');

  await page.getByText('Nothing is held for approval').waitFor();
  const second = client.callTool('one__echo', { text: 'again' }, { withinMs: 60_000 });
  await pane.getByText('text: again').waitFor();
  await page.keyboard.press('r');
  expect(gatewayErrorCode(await second)).toBe('NOT_APPROVED');
  expect(fixtureLog(entry).of('call')).toHaveLength(1);
  await client.close();
});

test('approvals page: starts a held server and reviews its entries with the keyboard', async () => {
  const entry = { ...fixture('hidden-characters'), trust: 'manual' };
  await using dashboard = await openDashboard({ mcpServers: { shy: entry }, config });
  const { gateway, page } = dashboard;
  await dashboard.goto('/servers');
  await page.getByRole('button', { name: 'Review: shy' }).click();
  await page.getByText('The server does not start until you approve').waitFor();
  expect(fixtureLog(entry).of('started')).toHaveLength(0);
  await page.keyboard.press('a');
  const option = (name: string) => page.getByRole('option', { name: new RegExp(name) });
  await option('bidirectional').waitFor();
  expect(await seriousProblems(page)).toEqual([]);

  await option('bidirectional').click();
  const findings = page.getByRole('region', { name: 'Findings' });
  await findings.getByText('Invisible characters').first().waitFor();
  expect(await findings.textContent()).toContain(String.raw`\u{202e}`);
  expect(await page.getByRole('article').textContent()).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
  // Findings need a confirmation; Escape changes nothing.
  await page.keyboard.press('a');
  await page.getByRole('dialog', { name: 'Approve bidirectional?' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('r');
  await page.getByRole('status').getByText('bidirectional refused.').waitFor();

  await option('homoglyph').click();
  await page.keyboard.press('ArrowUp');
  await page.getByRole('option', { name: 'homoglyph', selected: false }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.getByRole('option', { name: 'homoglyph', selected: true }).waitFor();
  await page.keyboard.press('a');
  await page.getByRole('status').getByText('homoglyph approved.').waitFor();
  await option('tags').click();
  await page.keyboard.press('a');
  const dialog = page.getByRole('dialog', { name: 'Approve tags?' });
  await dialog.getByRole('button', { name: 'Approve' }).press('Enter');
  await page.getByRole('status').getByText('tags approved.').waitFor();
  const client = await gateway.client();
  const listed = await waitForTool(client, 'shy__homoglyph');
  expect(listed.map(({ name }) => name).toSorted()).toEqual(['shy__homoglyph', 'shy__tags']);
  await client.close();
  expect(dashboard.complaints).toEqual([]);
});

/** Checks that the shown item cannot be approved by click or key before its last words are shown, and approves it. */
async function approveAfterExpanding(
  { page }: OpenDashboard,
  name: string,
  lastWords: string,
): Promise<void> {
  const pane = page.getByRole('article');
  await pane.getByText('Show all of it before you approve it.').waitFor();
  const approve = pane.getByRole('button', { name: 'Approve', exact: true });
  expect(await approve.isDisabled()).toBe(true);
  // Even a handler that a script calls on the disabled button must not decide.
  await approve.evaluate((button) => {
    button.removeAttribute('disabled');
    (button as unknown as { click(): void }).click();
    button.setAttribute('disabled', '');
  });
  await page.keyboard.press('a');
  expect(await page.getByRole('dialog').count()).toBe(0);
  expect(await pane.textContent()).not.toContain(lastWords);
  await pane.getByRole('button', { name: /Show .* more characters/ }).click();
  await pane.getByText(lastWords).first().waitFor();
  const hasFindings = (await pane.getByRole('region', { name: 'Findings' }).count()) > 0;
  await approve.click();
  if (hasFindings) await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('status').getByText(`${name} approved.`).waitFor();
}

test('approvals page: a held server, tool, prompt and instructions are shown whole before they are approved', async () => {
  const plain = fixture('hostile-layout');
  const entry = { ...plain, env: { ...plain.env, LONG: `${'x'.repeat(5000)} end of LONG` }, trust: 'manual' };
  await using dashboard = await openDashboard({ mcpServers: { shy: entry }, config });
  const { page } = dashboard;
  const decisions: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/api/approvals'))
      decisions.push(request.postData() ?? '');
  });
  await dashboard.goto('/approvals?server=shy');
  await page.getByText('What would run').waitFor();
  expect(fixtureLog(entry).of('started')).toHaveLength(0);
  await approveAfterExpanding(dashboard, 'shy', 'end of LONG');

  const option = (name: string) => page.getByRole('option', { name: new RegExp(`^${name}`) });
  await option('word').waitFor();
  await page.getByRole('button', { name: /^Approve all/ }).click();
  await page.getByText(/long entries cannot be approved here/).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  const long = [
    { name: 'word', kind: 'tool of', lastWords: 'x<img' },
    { name: 'odd', kind: 'prompt of', lastWords: 'p<img' },
    { name: 'Instructions', kind: 'instructions of', lastWords: 'i<img' },
  ];
  for (const { name, kind, lastWords } of long) {
    // The prompt comes after the tool of the same name.
    await option(name).last().click();
    await page.getByRole('article').getByText(kind).first().waitFor();
    await approveAfterExpanding(dashboard, name, lastWords);
  }
  expect(decisions).toHaveLength(4);
  expect(dashboard.complaints).toEqual([]);
});

test('approvals page: a held call is approved only after its long arguments were shown whole', async () => {
  const entry = fixture('plain');
  const rules = [{ id: 'ask-first', effect: 'ask', names: ['echo'] }];
  await using dashboard = await openDashboard({
    mcpServers: { one: entry },
    config: { ...config, policy: { rules, askWait: '60s' } },
  });
  const client = await dashboard.gateway.client();
  await waitForTool(client, 'one__echo');
  const text = `${'harmless '.repeat(1000)}end of the text`;
  const call = client.callTool('one__echo', { text }, { withinMs: 60_000 });
  await dashboard.goto('/approvals');
  await dashboard.page.getByRole('article').getByText('harmless').first().waitFor();
  await approveAfterExpanding(dashboard, 'one__echo', 'end of the text');
  expect(textOfResult(await call)).toBe(text);
  expect(fixtureLog(entry).of('call')).toHaveLength(1);
  await client.close();
  expect(dashboard.complaints).toEqual([]);
});

test('approvals page: shows the entries of an approved server next', async () => {
  const manual = { ...fixture('plain'), trust: 'manual' };
  await using dashboard = await openDashboard({ mcpServers: { one: manual, two: manual }, config });
  const { page } = dashboard;
  await dashboard.goto('/approvals?server=one');
  const pane = page.getByRole('article');
  await pane.getByRole('heading', { name: 'one' }).waitFor();
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByText('one approved. It starts now').waitFor();
  await pane.getByRole('link', { name: 'one', exact: true }).waitFor();
  await eventually(async () => expect(await page.getByRole('option', { selected: true }).count()).toBe(1));

  await dashboard.goto('/servers');
  await page.getByRole('button', { name: 'Review: one' }).click();
  await pane.getByRole('link', { name: 'one', exact: true }).waitFor();
  expect(dashboard.complaints).toEqual([]);
});
