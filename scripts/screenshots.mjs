// npm run screenshots: every page of the dashboard in light and dark, with demonstration data, into docs/images/dashboard/.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from './build.mjs';
import { openDashboardPage } from './dashboard-page.mjs';
import { ensure } from './ensure.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const main = join(root, 'dist', 'main.js');
const target = join(root, 'docs', 'images', 'dashboard');
const MOST_BYTES = 120_000;
const ADDRESS = '127.0.0.1:7339';

/** Each with what is there once the page is whole, and what is done before the picture. */
const pages = [
  { name: 'overview', path: '/', sign: 'filesystem' },
  { name: 'servers', path: '/servers?server=filesystem', sign: 'filesystem' },
  { name: 'tools', path: '/tools?q=read+a+file&tier=read', sign: 'filesystem__read_text_file' },
  { name: 'try-a-tool', path: '/tools?tool=everything__get-structured-content', act: tryTool },
  { name: 'approvals', path: '/approvals', sign: 'notes' },
  { name: 'activity', path: '/activity', sign: 'read_text_file' },
  { name: 'access', path: '/access', sign: 'reading' },
];

ensure();
await build();
/** Always the same, since pages show paths. */
const home = join(tmpdir(), 'trunkline-demo');
const programs = join(home, 'bin');
rmSync(home, { recursive: true, force: true, maxRetries: 3 });
mkdirSync(programs, { recursive: true, mode: 0o700 });
const env = {
  ...process.env,
  HOME: home,
  TRUNKLINE_HOME: home,
  PATH: `${programs}${delimiter}${process.env.PATH}`,
};
const config = join(home, 'trunkline.jsonc');
let gateway;
try {
  await takePictures();
} finally {
  if (gateway !== undefined && gateway.exitCode === null) {
    gateway.kill('SIGTERM');
    await once(gateway, 'exit');
  }
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
}

async function takePictures() {
  writeFileSync(config, JSON.stringify(demonstration(), null, 2));
  gateway = spawn(process.execPath, [main, 'serve', '--config', config, '--http', ADDRESS], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await listening(gateway);
  const context = {
    viewport: { width: 1100, height: 700 },
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
  };
  const dashboard = await openDashboardPage({ env, config, context });
  const { page, goto, close } = dashboard;
  try {
    await makeActivity(page);
    mkdirSync(target, { recursive: true });
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      for (const { name, path, sign, act } of pages) {
        await goto(path);
        if (sign !== undefined) await page.locator('main').getByText(sign).first().waitFor();
        await act?.(page);
        await picture(page, `${name}-${colorScheme}.png`);
      }
    }
  } finally {
    await close();
  }
}

function demonstration() {
  const server = (name, ...args) => {
    const file = join(root, 'node_modules', '@modelcontextprotocol', `server-${name}`, 'dist', 'index.js');
    const program = `#!/bin/sh\nexec "${process.execPath}" "${file}" "$@"\n`;
    writeFileSync(join(programs, `mcp-server-${name}`), program, { mode: 0o755 });
    return { command: `mcp-server-${name}`, args };
  };
  const sandbox = join(home, 'documents');
  mkdirSync(sandbox);
  writeFileSync(join(sandbox, 'welcome.txt'), 'Hello from a file.\n');
  return {
    mcpServers: {
      everything: server('everything', 'stdio'),
      filesystem: { ...server('filesystem', sandbox), description: 'Reads and writes documents.' },
      memory: {
        ...server('memory'),
        env: { MEMORY_FILE_PATH: join(home, 'memory.jsonl') },
        description: 'Keeps a small knowledge graph.',
      },
      notes: { ...server('memory'), trust: 'manual', description: 'Waits for approval.' },
      calendar: { command: 'calendar-mcp', description: 'Its program is not installed.' },
    },
    auth: { keys: true },
    profiles: {
      reading: { description: 'Only tools that read.', servers: ['filesystem', 'memory'], tiers: ['read'] },
    },
  };
}

async function listening(child) {
  let said = '';
  child.stderr.setEncoding('utf8');
  for await (const text of child.stderr) {
    said += text;
    if (/http:\/\/127\.0\.0\.1:\d+/.test(said)) {
      child.stderr.resume();
      return;
    }
  }
  throw new Error(`The gateway did not start: ${said}`);
}

/** A few calls of every kind, and two keys, as a day of work leaves them. */
async function makeActivity(page) {
  const calls = [
    ['everything__echo', { message: 'Hello' }],
    ['everything__get-sum', { a: 2, b: 40 }],
    ['filesystem__read_text_file', { path: join(home, 'documents', 'welcome.txt') }],
    ['filesystem__list_directory', { path: join(home, 'documents') }],
    ['filesystem__read_text_file', { path: '/etc/passwd' }],
    ['memory__read_graph', {}],
  ];
  for (let round = 0; round < 4; round += 1)
    for (const [name, args] of calls) await send(page, '/api/call', { name, args });
  await send(page, '/api/keys', { name: 'ada-laptop', tier: 'destructive' });
  await send(page, '/api/keys', { name: 'ci', profile: 'reading', tier: 'read' });
}

async function send(page, path, body) {
  await page.evaluate(
    async ([to, value]) => {
      const headers = { 'content-type': 'application/json', 'x-trunkline': '1' };
      const answer = await fetch(to, { method: 'POST', headers, body: JSON.stringify(value) });
      if (!answer.ok) throw new Error(`${to} answered ${answer.status}: ${await answer.text()}`);
    },
    [path, body],
  );
}

async function tryTool(page) {
  await page.getByRole('combobox').first().selectOption('Chicago');
  await page.getByRole('button', { name: 'Call', exact: true }).click();
  await page.getByRole('region', { name: 'What the call gave' }).getByText('Done').waitFor();
}

async function picture(page, name) {
  const path = join(target, name);
  await page.screenshot({ path });
  const { size } = statSync(path);
  if (size > MOST_BYTES) throw new Error(`${name} has ${size} bytes, more than ${MOST_BYTES}.`);
  console.log(`${name}  ${Math.round(size / 1000)} kB`);
}
