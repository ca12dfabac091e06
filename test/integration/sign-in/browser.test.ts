import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';
import { expect, test } from 'vitest';

import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { chromiumPath } from '../../support/chromium.ts';
import { waitForValue } from '../../support/eventually.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { startProtectedServer } from '../../support/sign-in.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { needs } from '../../support/needs.ts';

needs('chromium');

checkLeaks();

const program = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

test('browser sign-in: leads from the login command to the first call', { tags: ['slow'] }, async () => {
  await using server = await startProtectedServer({ consent: 'page', challengeScope: 'read' });
  const home = temporaryFolder('home');
  const mcpServers = { it: { url: server.url } };
  writeFileSync(join(home, 'config.jsonc'), JSON.stringify({ mcpServers }));
  await using gateway = await startGateway({ mcpServers, home, listen: 'http' });
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  try {
    const login = spawn(
      process.execPath,
      [program, 'login', 'it', '--no-browser', '--text', '--config', join(home, 'config.jsonc')],
      { env: { ...process.env, TRUNKLINE_HOME: home }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const ended = once(login, 'close');
    let stderr = '';
    login.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const address = await waitForValue(() => /^ {2}(http:\S+)$/m.exec(stderr)?.[1], {
      what: 'The address to open',
    });
    const page = await browser.newPage();
    const outside: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith('http://127.0.0.1:')) outside.push(request.url());
    });
    await page.goto(address);
    expect(await page.textContent('#scope')).toBe('read');
    await page.click('#allow');
    await page.waitForURL(/\/callback\?/);
    expect(await page.title()).toBe('Signed in to it');
    expect(await page.textContent('main')).toContain('You can close this tab.');
    expect(await ended).toEqual([0, null]);
    // The page loads nothing from elsewhere, and a code cannot be used twice.
    expect(outside).toEqual([]);
    await expect(page.reload()).rejects.toThrow(/ERR_CONNECTION_REFUSED/);
  } finally {
    await browser.close();
  }
  const client = await gateway.client();
  await waitForTool(client, 'it__whoami');
  expect(textOfResult(await client.callTool('it__whoami'))).toContain('ada@example.com');
  await client.close();
});

test(
  'browser sign-in: opens an elicitation link and lets the call continue',
  { tags: ['slow'] },
  async () => {
    await using server = await startProtectedServer({ consent: 'page', challengeScope: 'read' });
    await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen: 'http' });
    const client = await gateway.client({ capabilities: { elicitation: { url: {} } } });
    const browser = await chromium.launch({
      executablePath: chromiumPath(),
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
    try {
      const page = await browser.newPage();
      client.answers('elicitation/create', async ({ url }) => {
        await page.goto(String(url));
        await page.click('#allow');
        await page.waitForURL(/\/callback\?/);
        return { action: 'accept' };
      });
      expect(textOfResult(await client.callTool('it__whoami', {}, { withinMs: 30_000 }))).toContain(
        'ada@example.com',
      );
      expect(await page.title()).toBe('Signed in to it');
    } finally {
      await browser.close();
    }
    await client.close();
  },
);
