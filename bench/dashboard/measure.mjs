// Measures how fast every page of the dashboard reacts to a key, with a large catalog and a long audit record.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { openDashboardPage } from '../../scripts/dashboard-page.mjs';
import { generateCatalog } from '../data/catalog.mjs';
import { percentile } from '../lib/stats.mjs';
import { environment, gateway, within } from '../lib/subjects.mjs';
import { fillAuditLog, findStateFolder } from './fill-audit-log.mjs';

const catalogServer = fileURLToPath(new URL('../fixtures/catalog-server.mjs', import.meta.url));
const catalog = generateCatalog();
const toolCount = catalog.reduce((sum, { tools }) => sum + tools.length, 0);
const RECORDS = 100_000;
const GOAL_MS = 100;
const PRESSES = 40;
const TYPED = 'create file read list search page update get';
const MOVES = ['ArrowDown', 'ArrowDown', 'PageDown', 'ArrowUp', 'End', 'Home'];

/** Where keys are pressed on each page: arrow keys in a `grid`, text in a `search` or `field`, and Tab otherwise. */
const pages = [
  { name: 'Overview, through the servers', path: '/', grid: 'Servers' },
  { name: 'Servers, through the list', path: '/servers', grid: 'Servers' },
  { name: 'Tools, searching', path: '/tools', search: 'Search tools', ready: 'Tools', asks: '/api/search?' },
  { name: 'Tools, through the list', path: '/tools', grid: 'Tools' },
  { name: 'One tool, typing into its form', path: '/tools?tool=TOOL', field: true },
  { name: 'Approvals, from part to part', path: '/approvals' },
  {
    name: 'Activity, filtering by tool',
    path: '/activity',
    search: 'Tool',
    ready: 'Records',
    asks: '/api/audit?',
  },
  { name: 'Activity, through the records', path: '/activity', grid: 'Records' },
  { name: 'Access, searching a view', path: '/access', search: 'Search by name', ready: 'What this caller' },
];

export async function measureDashboard({ children }) {
  const home = children.newFolder();
  const upstream = children.start([catalogServer]);
  const [port] = await once(upstream.child.stdout, 'data');
  const base = `http://127.0.0.1:${String(port).trim()}/s`;
  const entries = catalog.map(({ name }) => [
    name,
    { type: 'http', url: `${base}/${encodeURIComponent(name)}` },
  ]);
  const config = join(home, 'bench.jsonc');
  writeFileSync(
    config,
    JSON.stringify({ mcpServers: Object.fromEntries(entries), startup: { listWait: '20s' } }),
  );
  const env = environment(home);
  const first = await serve(children, { config, env });
  const opened = await openDashboardPage({ env, config });
  const tools = await within(allTools(opened.page), 'the catalog was not listed', first);
  await opened.close();
  await children.end(first);
  await fillAuditLog({
    stateDir: findStateFolder(home),
    count: RECORDS,
    recordOf: (n, at) => record(n, at, tools),
  });
  const running = await serve(children, { config, env });
  const context = { viewport: { width: 1280, height: 900 } };
  const dashboard = await openDashboardPage({ env, config, context });
  try {
    await within(allTools(dashboard.page), 'the catalog was not listed again', running);
    const rows = [];
    for (const page of pages) rows.push(await measurePage(dashboard, page, tools));
    return { tools: tools.length, records: RECORDS, goalMs: GOAL_MS, rows };
  } finally {
    await dashboard.close();
    await children.end(running);
    await children.end(upstream);
  }
}

async function serve(children, { config, env }) {
  const args = [gateway, 'serve', '--config', config, '--http', '127.0.0.1:0'];
  const running = children.start(args, { env });
  running.child.stdout.resume();
  const listens = new Promise((resolve) => {
    running.child.stderr.on('data', () => /http:\/\/127\.0\.0\.1:\d+/.test(running.stderr) && resolve());
  });
  await within(listens, 'no address was printed', running);
  return running;
}

async function allTools(page) {
  for (;;) {
    const tools = await page.evaluate(async () => {
      const answer = await fetch('/api/tools?cached=true', { headers: { 'x-trunkline': '1' } });
      return (await answer.json()).map(({ name, server, original }) => ({ name, server, original }));
    });
    if (tools.length === toolCount) return tools;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Records of all servers and tools; one in ten failed. */
function record(n, at, tools) {
  const { server, original } = tools[(n * 7919) % tools.length];
  const common = {
    kind: 'tool',
    caller: `key:caller-${n % 20}`,
    via: 'http',
    client: 'bench',
    clientVersion: '1',
    profile: 'default',
    server,
    entry: original,
    tier: 'write',
    rule: 'default',
    outcome: n % 10 === 0 ? 'tool-error' : 'ok',
    fingerprint: `bench-${n % 7}`,
  };
  return {
    common,
    at,
    ms: 1 + ((n * 31) % 500),
    bytesIn: 120,
    bytesOut: 400 + (n % 9e3),
    argumentText: '{}',
    resultText: '{}',
    resultChars: 2,
  };
}

async function measurePage({ page, goto }, { name, path, grid, search, field, ready, asks }, tools) {
  const long = tools.find((tool) => tool.name.includes('create')) ?? tools[0];
  await goto(path.replace('TOOL', encodeURIComponent(long.name)));
  const table = grid ?? ready;
  if (table !== undefined) await page.getByRole('grid', { name: table }).getByRole('row').nth(2).waitFor();
  if (grid !== undefined) await page.getByRole('grid', { name: grid }).focus();
  else if (search !== undefined) await page.getByRole('searchbox', { name: search }).focus();
  else if (field === true) await page.locator('form :is(textarea, input)').first().focus();
  else await page.locator('h1').first().waitFor();
  await page.evaluate(watchKeys);
  for (let at = 0; at < PRESSES; at += 1) {
    if (search !== undefined || field === true) await page.keyboard.press(keyFor(TYPED[at % TYPED.length]));
    else await page.keyboard.press(grid === undefined ? 'Tab' : MOVES[at % MOVES.length]);
    await page.waitForTimeout(60);
  }
  await page.waitForTimeout(1000);
  const { times, answers } = await page.evaluate(answeredAfter, asks);
  return {
    name,
    presses: times.length,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    ...(answers.length > 0 && {
      answered: percentile(answers, 0.5),
      answeredP95: percentile(answers, 0.95),
    }),
  };
}

function keyFor(character) {
  return character === ' ' ? 'Space' : character;
}

/** Runs in the page: measures the time from each key press until the frame with its effect is handed over. */
function watchKeys() {
  globalThis.pressed = [];
  addEventListener(
    'keydown',
    ({ timeStamp }) => {
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => globalThis.pressed.push({ at: timeStamp, ms: performance.now() - timeStamp });
        port2.postMessage(null);
      });
    },
    { capture: true },
  );
}

/** Runs in the page: returns the times until each frame, and from the last key before each request until its response; aborted requests do not count. */
function answeredAfter(asks) {
  const answers = performance
    .getEntriesByType('resource')
    .filter(({ name, responseStatus }) => asks !== undefined && name.includes(asks) && responseStatus === 200)
    .flatMap(({ startTime, responseEnd }) => {
      const key = globalThis.pressed.findLast(({ at }) => at <= startTime);
      return key === undefined ? [] : [responseEnd - key.at];
    });
  return { times: globalThis.pressed.map(({ ms }) => ms), answers };
}
