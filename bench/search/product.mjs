// Measures the built gateway in front of a whole catalog: the tokens of its lists and answers, by a real tokenizer, and its times.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

import { stdioClient } from '../client/stdio-client.mjs';
import { memory } from '../lib/proc.mjs';
import { median, percentile } from '../lib/stats.mjs';
import { environment, within } from '../lib/subjects.mjs';

const catalogServer = fileURLToPath(new URL('../fixtures/catalog-server.mjs', import.meta.url));
const gateway = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const EXPOSURES = ['direct', 'search', 'code'];

/** With `isPublic`, the public catalog is served; `catalog` contains its servers. */
export async function measureProduct(children, { catalog, queries, estimateTokens, isPublic = false }) {
  const home = children.newFolder();
  const toolCount = catalog.reduce((sum, { tools }) => sum + tools.length, 0);
  const upstream = children.start([catalogServer, ...(isPublic ? ['--public'] : [])]);
  const [port] = await once(upstream.child.stdout, 'data');
  const entry = (name) => ({
    type: 'http',
    url: `http://127.0.0.1:${String(port).trim()}/s/${encodeURIComponent(name)}`,
  });
  const mcpServers = Object.fromEntries(catalog.map(({ name }) => [name, entry(name)]));
  const log = { level: 'debug' };
  const config = { mcpServers, startup: { listWait: '20s' }, search: { usage: false }, log };
  writeFileSync(join(home, 'bench.jsonc'), JSON.stringify(config));
  const lists = {};
  for (const exposure of EXPOSURES)
    lists[exposure] = await listTokens(children, { home, exposure, toolCount });
  const answers = await askAll(children, { home, queries, estimateTokens, toolCount });
  const immediateMs = await searchAtOnce(children, { home, query: queries[0] });
  await children.end(upstream);
  return { tools: toolCount, servers: catalog.length, lists, immediateMs, ...answers };
}

async function start(children, { home, exposure }) {
  const args = ['serve', '--config', join(home, 'bench.jsonc'), '--standalone', '--expose', exposure];
  const running = children.start([gateway, ...args], { env: environment(home) });
  const client = stdioClient(running.child);
  await within(client.open(), 'the gateway did not answer the handshake', running);
  const list = () => within(client.request('tools/list'), 'the gateway did not list its tools', running);
  return { running, client, list, end: () => children.end(running) };
}

/** Tokens of the whole `tools/list`; undefined for an exposure that this build does not have. */
async function listTokens(children, { home, exposure, toolCount }) {
  let started;
  try {
    started = await start(children, { home, exposure });
  } catch (error) {
    if (exposure === 'code') return undefined;
    throw error;
  }
  const { tools } = await started.list();
  if (exposure === 'direct' && tools.length !== toolCount)
    throw new Error(`the gateway listed ${tools.length} of ${toolCount} tools`);
  await started.end();
  // Clients do not pass the `_meta` of our own tools to the model.
  const seen = exposure === 'direct' ? tools : tools.map(({ _meta, ...tool }) => tool);
  return countTokens(JSON.stringify(seen));
}

async function askAll(children, { home, queries, estimateTokens, toolCount }) {
  const { running, client, list, end } = await start(children, { home, exposure: 'search' });
  await list();
  const from = performance.now();
  await within(indexLogged(running, toolCount), 'the gateway did not make its index', running);
  const preparedMs = performance.now() - from;
  const rssMb = memory(running.pid).rss;
  const tokens = [];
  const times = [];
  const errors = [];
  for (const query of queries) {
    const begin = performance.now();
    const { content } = await client.request('tools/call', { name: 'search_tools', arguments: { query } });
    times.push(performance.now() - begin);
    const [{ text }] = content;
    tokens.push(countTokens(text));
    errors.push(estimateTokens(text) / tokens.at(-1) - 1);
  }
  const rssAfterMb = memory(running.pid).rss;
  await end();
  return {
    queries: queries.length,
    answerMedian: median(tokens),
    answerWorst: Math.max(...tokens),
    estimate: { median: median(errors), from: percentile(errors, 0.05), to: percentile(errors, 0.95) },
    preparedMs,
    firstMs: times[0],
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    rssMb,
    rssAfterMb,
  };
}

/** Resolves when the log says that the index of all tools is ready. */
async function indexLogged(running, toolCount) {
  const ready = new RegExp(`search index\\b.*"tools":${toolCount}\\b`);
  while (!ready.test(running.stderr)) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Searches at the worst moment: before anything is loaded or an index is built. */
async function searchAtOnce(children, { home, query }) {
  const { client, end } = await start(children, { home, exposure: 'search' });
  const from = performance.now();
  await client.request('tools/call', { name: 'search_tools', arguments: { query } });
  const ms = performance.now() - from;
  await end();
  return ms;
}
