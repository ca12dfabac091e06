// npm run screenshots: takes screenshots of every dashboard page in light and dark mode, with demo data, into docs/images/dashboard/.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import Database from 'libsql';

import { fillAuditLog, findStateFolder } from '../bench/dashboard/fill-audit-log.mjs';
import { build } from './build.mjs';
import { openDashboardPage } from './dashboard-page.mjs';
import { ensure } from './ensure.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const main = join(root, 'dist', 'main.js');
const target = join(root, 'docs', 'images', 'dashboard');
const MOST_BYTES = 180_000;
const WIDTH = 1100;
const HEIGHT = 640;
const ADDRESS = '127.0.0.1:7339';

/** The pages. `sign` is a text that appears once the page is complete; `act` runs before the screenshot. */
const pages = [
  { name: 'overview', path: '/', sign: 'tokens spent', height: 1300 },
  { name: 'servers', path: '/servers?server=github', sign: 'github' },
  { name: 'tools', path: '/tools?q=find+open+issues', sign: 'github__search_issues' },
  { name: 'try-a-tool', path: '/tools?tool=github__search_issues', act: tryTool, height: 760 },
  { name: 'approvals', path: '/approvals', sign: 'notes' },
  { name: 'clients', path: '/clients', sign: 'claude-code' },
  { name: 'activity', path: '/activity?range=7d', sign: 'search_issues', height: 800 },
  { name: 'access', path: '/access', sign: 'reading', height: 760 },
];

const DAY_MS = 86_400_000;
const DAYS = 7;
const RECORDS = 4200;
/** What the people and agents of the week did: server, tool, effect, typical milliseconds, share. */
const work = [
  ['github', 'search_issues', 'read', 310, 9],
  ['github', 'get_pull_request', 'read', 240, 8],
  ['github', 'create_pull_request', 'write', 620, 2],
  ['filesystem', 'read_text_file', 'read', 4, 9],
  ['filesystem', 'list_directory', 'read', 3, 4],
  ['filesystem', 'write_file', 'destructive', 9, 3],
  ['postgres', 'list_tables', 'read', 38, 6],
  ['linear', 'update_issue', 'write', 280, 4],
  ['kubernetes', 'list_pods', 'read', 150, 4],
  ['browser', 'get_screenshot', 'read', 1400, 3],
  ['sentry', 'search_events', 'read', 520, 3],
  ['slack', 'search_messages', 'read', 190, 3],
  ['notion', 'get_page', 'read', 260, 3],
  ['memory', 'search_nodes', 'read', 14, 3],
  ['stripe', 'list_invoices', 'read', 340, 1],
].flatMap((entry) => Array.from({ length: entry[4] }, () => entry));
const callers = ['key:ada-laptop', 'key:grace-laptop', 'key:ada-laptop', 'key:ci', 'key:grace-laptop'];
/** The clients that are connected: key, name, version, number of searches. */
const clients = [
  ['ada-laptop', 'claude-code', '2.1.14', 5],
  ['ada-laptop', 'Visual Studio Code', '1.116.0', 2],
  ['grace-laptop', 'cursor-vscode', '2.4.1', 4],
  ['grace-laptop', 'codex-mcp-client', '0.71.0', 3],
  ['ci', 'release-bot', '3.0.2', 2],
];

const times = workingTimes();
/** Estimated tokens of the demo servers, measured once: all tools, the short list, and a search with its answer. */
const TOKENS = { whole: 29_500, menu: 720, search: 240 };

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
  const stateDir = findStateFolder(home);
  await fillAuditLog({ stateDir, count: RECORDS, recordOf });
  fillTokens(stateDir);
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
  const program = (name, file, ...fixed) => {
    const words = [process.execPath, file, ...fixed].map((word) => `"${word}"`).join(' ');
    writeFileSync(join(programs, `mcp-server-${name}`), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
    return { command: `mcp-server-${name}` };
  };
  const real = (name) =>
    program(name, join(root, 'node_modules', '@modelcontextprotocol', `server-${name}`, 'dist', 'index.js'));
  const demo = (name, description) => ({
    ...program(name, join(root, 'scripts', 'demo', 'demo-server.mjs'), name),
    description,
  });
  const sandbox = join(home, 'documents');
  mkdirSync(sandbox);
  writeFileSync(join(sandbox, 'welcome.txt'), 'Hello from a file.\n');
  return {
    mcpServers: {
      github: demo('github', 'Issues, pull requests and workflows.'),
      linear: demo('linear', 'Plans of the product team.'),
      postgres: demo('postgres', 'The reporting database, read-only.'),
      slack: demo('slack', 'Messages of the team.'),
      sentry: demo('sentry', 'Errors in production.'),
      notion: demo('notion', 'The handbook.'),
      stripe: demo('stripe', 'Customers and invoices.'),
      figma: demo('figma', 'Designs and comments.'),
      browser: demo('browser', 'A browser for tests.'),
      kubernetes: demo('kubernetes', 'The staging cluster.'),
      filesystem: { ...real('filesystem'), args: [sandbox], description: 'Reads and writes documents.' },
      memory: {
        ...real('memory'),
        env: { MEMORY_FILE_PATH: join(home, 'memory.jsonl') },
        description: 'Keeps a small knowledge graph.',
      },
      notes: { ...demo('notes', 'Held for approval.'), trust: 'manual' },
      calendar: { command: 'calendar-mcp', description: 'Its program is not installed.' },
    },
    auth: { keys: true },
    profiles: {
      reading: {
        description: 'Only tools that read.',
        servers: ['filesystem', 'github', 'postgres'],
        tiers: ['read'],
      },
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

/** Returns a record of a week of work by two people and a build server: busy in the day, quiet at night and at the weekend. */
function recordOf(n) {
  const [server, entry, tier, ms] = work[(n * 17 + Math.floor(n / 11) * 5) % work.length];
  const hasFailed = n % 41 === 7 || (server === 'sentry' && n % 5 === 0);
  const common = {
    kind: 'tool',
    caller: callers[(n * 7 + Math.floor(n / 13)) % callers.length],
    via: 'http',
    client: clients[n % clients.length][1],
    clientVersion: clients[n % clients.length][2],
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
    at: times[n],
    group: `demo-${n}`,
    ms: ms * (0.7 + ((n * 37) % 23) / 20) * (n % 67 === 3 ? 4 : 1),
    bytesIn: 60 + (n % 40),
    bytesOut: 300 + ((n * 97) % 4000),
    argumentText: '{}',
    resultText: '{}',
    resultChars: 2,
  };
}

/** Returns the times of the records, in ascending order, up to now. The hour before now has more of them, so that every server has a latency. */
function workingTimes() {
  const now = Date.now();
  const inLastHour = Math.round(RECORDS / 12);
  const hours = Array.from({ length: DAYS * 24 }, (_, index) => now - DAYS * DAY_MS + index * 3_600_000);
  const weights = hours.map((at, index) => {
    const hour = new Date(at).getUTCHours();
    const isWeekend = [0, 6].includes(new Date(at).getUTCDay());
    const load = Math.max(0.03, Math.sin(((hour - 6) / 13) * Math.PI));
    return load * (isWeekend ? 0.15 : 1) * (0.7 + ((index * 29) % 13) / 20);
  });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const all = hours.flatMap((at, index) => {
    const count = Math.floor((weights[index] / sum) * (RECORDS - inLastHour));
    return Array.from({ length: count }, (_, n) => at + Math.round(((n + 0.5) / count) * 3_600_000));
  });
  const missing = RECORDS - all.length;
  const recent = Array.from({ length: missing }, (_, n) => now - Math.round((1 - n / missing) * 3_500_000));
  return [...all, ...recent].toSorted((a, b) => a - b);
}

/** Writes the tokens of the week, in proportion to the calls of each day: a list and three searches for every twelve calls. */
function fillTokens(stateDir) {
  const perDay = new Map();
  for (const at of times) {
    const date = new Date(at);
    const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()]
      .map((part) => String(part).padStart(2, '0'))
      .join('-');
    perDay.set(day, (perDay.get(day) ?? 0) + 1);
  }
  const database = new Database(join(stateDir, 'trunkline.db'));
  const insert = database.prepare(
    'INSERT OR REPLACE INTO menu_tokens (day, whole, menu, search, lists, searches) VALUES (?, ?, ?, ?, ?, ?)',
  );
  for (const [day, calls] of perDay) {
    const lists = Math.ceil(calls / 12);
    insert.run(day, lists * TOKENS.whole, lists * TOKENS.menu, lists * 3 * TOKENS.search, lists, lists * 3);
  }
  database.close();
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

/** Creates the keys, connects the clients and makes a few calls of every kind. */
async function makeActivity(page) {
  const keys = {};
  for (const name of ['ada-laptop', 'grace-laptop'])
    ({ key: keys[name] } = await send(page, '/api/keys', { name, tier: 'destructive' }));
  ({ key: keys.ci } = await send(page, '/api/keys', { name: 'ci', profile: 'reading', tier: 'read' }));
  await send(page, '/api/refresh', {});
  for (const [key, name, version, searches] of clients)
    await connectClient(keys[key], { name, version }, searches);
}

/** Sends the requests of a client, which stays connected. */
async function connectClient(key, clientInfo, searches) {
  const headers = { 'content-type': 'application/json', accept: '*/*', authorization: `Bearer ${key}` };
  const ask = async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const answer = await fetch(`http://${ADDRESS}/mcp`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(`${method} failed with status ${answer.status}: ${await answer.text()}`);
    headers['mcp-session-id'] ??= answer.headers.get('mcp-session-id') ?? '';
    await answer.text();
  };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  await ask('tools/list', {});
  for (let n = 0; n < searches; n++)
    await ask('tools/call', { name: 'search_tools', arguments: { query: 'find open issues' } });
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
  await page.getByRole('textbox', { name: /^query/ }).fill('axes state:open');
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
