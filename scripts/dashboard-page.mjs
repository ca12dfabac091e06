// Opens a browser that is signed in to the dashboard of a running gateway, for benchmarks and screenshots.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** `env` and `config` are those of the gateway; `context` contains the options of the browser context. */
export async function openDashboardPage({ env, config, context = {} }) {
  const executablePath = places.find((place) => existsSync(place));
  if (executablePath === undefined)
    throw new Error('Chromium was not found. Install the package "chromium".');
  const { url, origin } = signInLink({ env, config });
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  const page = await (await browser.newContext(context)).newPage();
  await page.goto(url);
  return { page, goto: (path) => page.goto(new URL(path, origin).href), close: () => browser.close() };
}

function signInLink({ env, config }) {
  const words = [main, 'dashboard', '--print', '--json', '--config', config];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`trunkline dashboard --print failed: ${stderr}`);
  const { url } = JSON.parse(stdout);
  return { url, origin: new URL(url).origin };
}
