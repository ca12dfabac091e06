import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';

import { waitForTool } from '../../support/client-helpers.ts';
import { fixture } from '../../support/fixture.ts';
import { addKey } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { needs } from '../../support/needs.ts';
import { OauthFlow, REDIRECT, approveInBrowser } from '../../support/oauth-flow.ts';
import { openDashboard, watchPage } from './support.ts';

needs('chromium');

checkLeaks();

const MARKUP = `<img src=x onerror="globalThis.ran='form'"><style>*{display:none}</style>`;
const ODD = `Z${'\u0301\u0489\u20DD'.repeat(60)}\uD800\uFFFE\u202Eback\u2066\u00AD${MARKUP}`;
const WORD = `${'w'.repeat(100_000)}${MARKUP}`;
const LINES = `${MARKUP}\n`.repeat(10_000);
const SCRIPT_URL = `javascript:globalThis.ran='url'//`;
const config = { startup: { listWait: '60s' } };

const isInWindow = (element: Locator): Promise<boolean> =>
  element.evaluate((it) => {
    const { top, bottom } = it.getBoundingClientRect();
    return top >= 0 && bottom <= (globalThis as unknown as { readonly innerHeight: number }).innerHeight;
  });

const manyArguments = Array.from({ length: 64 }, (_, index) => ({
  type: 'positional',
  value: `${index} ${'a'.repeat(1000)}`,
}));
const registryServers = [
  {
    name: 'io.github.me/odd',
    description: ODD,
    version: ODD,
    repository: { url: SCRIPT_URL },
    packages: [
      {
        registryType: 'npm',
        identifier: 'weather',
        packageArguments: [{ type: 'positional', value: `--safe${' '.repeat(900)}${ODD} --evil` }],
        environmentVariables: [
          ...Array.from({ length: 20 }, (_, index) => ({
            name: `KEY${index}`,
            description: `${ODD} ${WORD}`,
            isRequired: true,
          })),
          { name: 'VALUE', value: ODD },
        ],
      },
    ],
  },
  {
    name: 'io.github.me/long',
    description: WORD,
    version: WORD,
    repository: { url: WORD },
    packages: [
      {
        registryType: 'npm',
        identifier: 'weather',
        packageArguments: manyArguments.with(-1, { type: 'positional', value: '--evil' }),
      },
    ],
  },
  {
    name: 'io.github.me/remote',
    description: LINES,
    version: LINES,
    remotes: [
      { type: 'streamable-http', url: `https://a.test/${WORD}`, headers: [{ name: 'X-Key', value: ODD }] },
    ],
  },
  { name: 'io.github.me/script', description: 'x', remotes: [{ type: 'sse', url: SCRIPT_URL }] },
  { name: 'io.github.me/unknown', description: 'x', packages: [{ registryType: ODD, identifier: WORD }] },
];

test('hostile registry: entries are plain text and are shown whole before they can be added', async () => {
  const registry = createServer((_, response) => {
    const body = { servers: registryServers.map((server) => ({ server })) };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  const { port } = registry.address() as AddressInfo;
  try {
    const env = { TRUNKLINE_REGISTRY: `http://127.0.0.1:${port}` };
    await using dashboard = await openDashboard({ mcpServers: {}, env });
    const { page } = dashboard;
    const { check, problems } = await watchPage(page);
    const select = async (name: string): Promise<void> => {
      await dashboard.goto('/servers?add=registry');
      await page.getByLabel('Search the MCP registry').fill('me');
      await page.getByRole('button', { name: 'Add io.github.me/odd' }).waitFor();
      await check('registry');
      await page.getByRole('button', { name: `Add io.github.me/${name}` }).click();
      await page.getByRole('textbox', { name: 'Name required' }).waitFor();
      await check(`registry, ${name}`);
    };
    const entry = page.getByRole('region', { name: 'The whole entry' });
    const add = page.getByRole('button', { name: 'Add the server' });
    await select('odd');
    // The long remarks and description leave the command in the window.
    expect(await isInWindow(entry.getByRole('heading'))).toBe(true);
    expect(await entry.locator('pre').textContent()).toMatch(/^command: npx\nargs:\n(.*\n)*.*--evil\n/);
    expect(await entry.textContent()).toContain(String.raw`\u{202e}back`);
    expect(await add.isEnabled()).toBe(true);

    await select('long');
    await page.getByText('Show the whole entry before you add the server.').waitFor();
    expect(await entry.textContent()).not.toContain('--evil');
    expect(await add.isDisabled()).toBe(true);
    await page.getByRole('textbox', { name: 'Name required' }).press('Enter');
    await entry.getByRole('button', { name: /Show .* more characters/ }).click();
    await entry.getByText('--evil').waitFor();
    await check('registry, long, expanded');
    expect(await add.isEnabled()).toBe(true);

    await select('remote');
    expect(await entry.textContent()).toContain(String.raw`\u{202e}back`);
    await dashboard.goto('/servers');
    await page.getByText('No servers yet').waitFor();
    expect(problems).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
  } finally {
    registry.close();
    registry.closeAllConnections();
  }
});

test('hostile question: its texts are plain text, and the warning and the first field stay in the window', async () => {
  await using dashboard = await openDashboard({ mcpServers: { asks: fixture('hostile-questions') }, config });
  const { page, gateway } = dashboard;
  const { check, problems } = await watchPage(page);
  const client = await gateway.client();
  await waitForTool(client, 'asks__odd');
  await client.close();
  const call = async (name: string): Promise<void> => {
    await dashboard.goto(`/tools?tool=asks__${name}`);
    await page.getByRole('button', { name: 'Call', exact: true }).click();
  };
  const dialog = page.getByRole('dialog', { name: 'asks asks a question' });
  const result = page.getByRole('region', { name: 'Result of the call' });
  for (const name of ['odd', 'word', 'lines', 'wide', 'broken']) {
    await call(name);
    await dialog.waitFor();
    expect(await isInWindow(dialog.getByText('Never enter a password')), name).toBe(true);
    expect(await isInWindow(dialog.getByRole('button', { name: 'Decline' })), name).toBe(true);
    if (name === 'lines') expect(await isInWindow(dialog.getByRole('textbox').first())).toBe(true);
    await check(`question, ${name}`);
    await dialog.getByRole('button', { name: 'Decline' }).click();
    await result.getByText('decline').first().waitFor();
  }
  // A question with an address is not asked, because following the address cannot be offered safely here.
  await call('link');
  await page
    .getByText(/cannot be answered here/)
    .first()
    .waitFor();
  await check('question, link');
  await dashboard.goto('/servers?server=asks&tab=processes');
  await page.getByRole('cell', { name: /evil/ }).waitFor();
  await check('processes');
  expect(problems).toEqual([]);
  expect(dashboard.complaints).toEqual([]);
});

test(
  'hostile arguments: a held call with them leaves the approvals page usable',
  { timeout: 240_000 },
  async () => {
    const rules = [{ id: 'ask-first', effect: 'ask', names: ['stack'] }];
    await using dashboard = await openDashboard({
      mcpServers: { it: fixture('hostile-layout') },
      config: { ...config, policy: { rules, askWait: '120s' } },
    });
    const { page, gateway } = dashboard;
    const { check, problems } = await watchPage(page);
    const client = await gateway.client({ clientInfo: { name: ODD, version: ODD } });
    await waitForTool(client, 'it__stack');
    let deep: object = { end: MARKUP };
    for (let level = 0; level < 1500; level += 1) deep = { a: deep };
    const hostile = {
      odd: { [ODD]: ODD, [`${ODD}2`]: [ODD, { [MARKUP]: SCRIPT_URL }] },
      word: { [WORD]: WORD },
      lines: { a: LINES },
      wide: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, MARKUP])),
      deep: { deep },
    };
    for (const [name, args] of Object.entries(hostile)) {
      const call = client.callTool('it__stack', args, { withinMs: 120_000 });
      await dashboard.goto('/approvals');
      const pane = page.getByRole('article');
      await pane.getByRole('heading', { name: 'it__stack' }).waitFor();
      await check(`call, ${name}`);
      expect(await isInWindow(pane.getByRole('button', { name: 'Refuse' })), name).toBe(true);
      const more = pane.getByRole('button', { name: /Show .* more characters/ });
      expect(await more.count(), name).toBe(name === 'odd' ? 0 : 1);
      if (name !== 'odd') await more.click();
      await check(`call, ${name}, expanded`);
      await pane.getByRole('button', { name: 'Refuse' }).click();
      expect(await call, name).toMatchObject({ isError: true });
    }
    await client.close();
    expect(problems).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
  },
);

test('hostile entry: variables and headers are shown as text beside inputs that would mislead', async () => {
  const plain = fixture('plain');
  const headers = { 'X-A': '\u202Eback', 'X-B': 'v'.repeat(100_000), 'X-C': MARKUP };
  const env = { ...plain.env, 'C\u202E': 'c', A: ODD, B: WORD };
  const args = [...(plain.args ?? []), '\u202Eback', LINES.slice(0, 5000)];
  await using dashboard = await openDashboard({
    mcpServers: {
      vars: { ...plain, args, env },
      heads: { url: 'http://127.0.0.1:9/mcp', headers, enabled: false },
      'held-vars': { ...plain, args, env, trust: 'manual' },
      'held-heads': { url: 'http://127.0.0.1:9/mcp', headers, trust: 'manual' },
    },
    config,
  });
  const { page } = dashboard;
  const { check, problems } = await watchPage(page);
  for (const server of ['vars', 'heads']) {
    for (const tab of ['about', 'processes', 'entry']) {
      await dashboard.goto(`/servers?server=${server}&tab=${tab}`);
      await check(`${server}, ${tab}`);
    }
    if (server === 'vars') {
      const entry = page.getByRole('region', { name: 'The whole entry' });
      expect(await entry.textContent()).toContain(String.raw`\u{202e}back`);
      expect(await entry.textContent()).toContain(String.raw`C\u{202e}`);
    }
    await page.getByText('JSON', { exact: true }).click();
    const json = page.getByRole('textbox', { name: /as JSON/ });
    expect(await json.inputValue()).not.toMatch(/\u202E|\p{M}{7}/u);
    await check(`${server}, JSON`);
    await page.getByText('No changes.').waitFor();
  }
  for (const server of ['held-vars', 'held-heads']) {
    await dashboard.goto(`/approvals?server=${server}`);
    await page.getByRole('article').getByRole('heading', { name: server }).waitFor();
    await check(server);
    await page.getByRole('button', { name: /Show .* more characters/ }).click();
    await check(`${server}, expanded`);
  }
  expect(problems).toEqual([]);
  expect(dashboard.complaints).toEqual([]);
});

test('hostile OAuth client: its name, address and logo do not change the consent page or the activity page', async () => {
  await using dashboard = await openDashboard({
    mcpServers: { one: fixture('plain') },
    config: { ...config, auth: { authorizationServer: { allowPrivate: true } } },
  });
  const { page, gateway } = dashboard;
  const { check, problems } = await watchPage(page);
  const site = `https://evil.test/\u202Emoc.knab//:sptth\u00AD/${'u'.repeat(1900)}`;
  const flow = await OauthFlow.begin(gateway, {
    client_name: `Bank\u201D${MARKUP.slice(0, 40)}${ODD}`,
    redirect_uris: [site, REDIRECT],
    logo_uri: 'http://127.0.0.1:9/logo.svg',
    client_uri: SCRIPT_URL,
    policy_uri: SCRIPT_URL,
  });
  for (const changes of [{}, { response_type: 'token' }]) {
    await page.goto(flow.address({ redirect_uri: site, ...changes }));
    await page.getByText('evil.test').first().waitFor();
    await check(`consent ${JSON.stringify(changes)}`);
    expect(await page.locator('img, svg, a[href^="javascript:"], script').count()).toBe(0);
  }
  await page.goto(flow.address({ redirect_uri: site }));
  for (const name of ['Allow', 'Deny'])
    expect(await isInWindow(page.getByRole('button', { name })), name).toBe(true);

  await approveInBrowser(flow.address(), await addKey(gateway, 'anna'));
  await dashboard.goto('/access');
  await page.getByText('anna').first().waitFor();
  await check('access');
  await dashboard.goto('/activity');
  await page
    .getByRole('row', { name: /authorize/ })
    .first()
    .click();
  await page.getByText('Bank').first().waitFor();
  await check('activity');
  expect(problems).toEqual([]);
  expect(dashboard.complaints).toEqual([]);
});
