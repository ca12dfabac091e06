// npm run screenshots: takes screenshots of every dashboard page in light and dark mode, with demo data, into docs/images/dashboard/.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { fillAuditLog, findStateFolder } from '../bench/dashboard/fill-audit-log.mjs';
import { build } from './build.mjs';
import { openDashboardPage } from './dashboard-page.mjs';
import { ensure } from './ensure.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const main = join(root, 'dist', 'main.js');
const target = join(root, 'docs', 'images', 'dashboard');
const MOST_BYTES = 120_000;
const WIDTH = 1100;
const HEIGHT = 640;
const ADDRESS = '127.0.0.1:7339';

/** The pages. `sign` is a text that appears once the page is complete; `act` runs before the screenshot. */
const pages = [
  { name: 'overview', path: '/', sign: 'tokens spent', height: 800 },
  { name: 'servers', path: '/servers?server=filesystem', sign: 'filesystem' },
  {
    name: 'tools',
    path: '/tools?q=read+a+file&server=filesystem&tier=read',
    sign: 'filesystem__read_text_file',
  },
  { name: 'try-a-tool', path: '/tools?tool=everything__get-structured-content', act: tryTool },
  { name: 'approvals', path: '/approvals', sign: 'notes' },
  { name: 'activity', path: '/activity', sign: 'read_text_file', height: 720 },
  { name: 'access', path: '/access', sign: 'reading' },
];

const RECORDS = 900;
const done = [
  ['filesystem', 'read_text_file', 'read', 4],
  ['filesystem', 'list_directory', 'read', 3],
  ['filesystem', 'write_file', 'destructive', 9],
  ['memory', 'search_nodes', 'read', 14],
  ['memory', 'create_entities', 'write', 22],
  ['everything', 'get-sum', 'read', 6],
];

ensure();
await build();
/** Always the same folder, because pages show paths. */
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
  await stop();
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
}

async function takePictures() {
  writeFileSync(config, JSON.stringify(demonstration(), null, 2));
  await start();
  await stop();
  await fillAuditLog({ stateDir: findStateFolder(home), count: RECORDS, recordOf });
  await start();
  const context = {
    viewport: { width: WIDTH, height: HEIGHT },
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
      for (const { name, path, sign, act, height = HEIGHT } of pages) {
        await page.setViewportSize({ width: WIDTH, height });
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
      notes: { ...server('memory'), trust: 'manual', description: 'Held for approval.' },
      calendar: { command: 'calendar-mcp', description: 'Its program is not installed.' },
    },
    auth: { keys: true },
    profiles: {
      reading: { description: 'Only tools that read.', servers: ['filesystem', 'memory'], tiers: ['read'] },
    },
  };
}

async function start() {
  gateway = spawn(
    process.execPath,
    [main, 'serve', '--config', config, '--http', ADDRESS, '--expose', 'search'],
    {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  await listening(gateway);
}

async function stop() {
  if (gateway === undefined || gateway.exitCode !== null) return;
  gateway.kill('SIGTERM');
  await once(gateway, 'exit');
}

/** Returns a record of a fixed hour of work by two people and a build server. */
function recordOf(n, at) {
  const [server, entry, tier, ms] = done[(n * 7 + Math.floor(n / 11)) % done.length];
  const hasFailed = n % 23 === 7;
  const common = {
    kind: 'tool',
    caller: ['key:ada-laptop', 'key:ci', 'local:grace'][n % 3],
    via: 'http',
    client: 'demo',
    clientVersion: '1',
    profile: 'default',
    server,
    entry,
    tier,
    rule: 'default',
    outcome: hasFailed ? 'tool-error' : 'ok',
    fingerprint: `demo-${n % 7}`,
  };
  return {
    common,
    at,
    group: `demo-${n}`,
    ms: ms * (1 + ((n * 13) % 10) / 5),
    bytesIn: 60 + (n % 40),
    bytesOut: 300 + ((n * 97) % 4000),
    argumentText: '{}',
    resultText: '{}',
    resultChars: 2,
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

/** Makes a few calls of every kind and creates two keys, like a day of work. */
async function makeActivity(page) {
  const calls = [
    ['everything__echo', { message: 'Hello' }],
    ['everything__get-sum', { a: 2, b: 40 }],
    ['filesystem__read_text_file', { path: join(home, 'documents', 'welcome.txt') }],
    ['filesystem__list_directory', { path: join(home, 'documents') }],
    ['filesystem__read_text_file', { path: '/etc/passwd' }],
    ['memory__read_graph', {}],
  ];
  for (const [name, args] of calls) await send(page, '/api/call', { name, args });
  const { key } = await send(page, '/api/keys', { name: 'ada-laptop', tier: 'destructive' });
  await send(page, '/api/keys', { name: 'ci', profile: 'reading', tier: 'read' });
  await searchAsClient(key);
}

/** Sends the requests of a client, so that there are tokens to count. */
async function searchAsClient(key) {
  const headers = { 'content-type': 'application/json', accept: '*/*', authorization: `Bearer ${key}` };
  const ask = async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const answer = await fetch(`http://${ADDRESS}/mcp`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(`${method} failed with status ${answer.status}: ${await answer.text()}`);
    headers['mcp-session-id'] ??= answer.headers.get('mcp-session-id') ?? '';
    await answer.text();
  };
  const clientInfo = { name: 'demo', version: '1' };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  await ask('tools/list', {});
  await ask('tools/call', { name: 'search_tools', arguments: { query: 'read a file' } });
}

async function send(page, path, body) {
  return page.evaluate(
    async ([to, value]) => {
      const headers = { 'content-type': 'application/json', 'x-trunkline': '1' };
      const answer = await fetch(to, { method: 'POST', headers, body: JSON.stringify(value) });
      if (!answer.ok) throw new Error(`${to} failed with status ${answer.status}: ${await answer.text()}`);
      return answer.json();
    },
    [path, body],
  );
}

async function tryTool(page) {
  await page.getByRole('combobox').first().selectOption('Chicago');
  await page.getByRole('button', { name: 'Call', exact: true }).click();
  await page.getByRole('region', { name: 'Result of the call' }).getByText('Done').waitFor();
}

async function picture(page, name) {
  const path = join(target, name);
  await page.screenshot({ path });
  const { size } = statSync(path);
  if (size > MOST_BYTES) throw new Error(`${name} has ${size} bytes, more than the limit of ${MOST_BYTES}.`);
  console.log(`${name}  ${Math.round(size / 1000)} kB`);
}
