// What the product itself answers: the real catalog behind the built gateway, in each exposure, tokens by a real tokenizer.

import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

import { stdioClient } from '../client/stdio-client.mjs';
import { memory } from '../lib/proc.mjs';
import { median, percentile } from '../lib/stats.mjs';
import { environment, within } from '../lib/subjects.mjs';

const catalogServer = fileURLToPath(new URL('../fixtures/catalog-server.mjs', import.meta.url));
const gateway = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const servers = readdirSync(new URL('../catalog/', import.meta.url))
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -5));
const TOOLS = 2_037;
const EXPOSURES = ['direct', 'search', 'code'];
/** What the log says when the index is there. */
const PREPARED = /Made a search index\..*"tools":2037\b/;

export async function measureProduct(children, queries, { estimateTokens }) {
  const home = children.newFolder();
  const upstream = children.start([catalogServer]);
  const [port] = await once(upstream.child.stdout, 'data');
  const entry = (name) => ({
    type: 'http',
    url: `http://127.0.0.1:${String(port).trim()}/s/${encodeURIComponent(name)}`,
  });
  const mcpServers = Object.fromEntries(servers.map((name) => [name, entry(name)]));
  const log = { level: 'debug' };
  const config = { mcpServers, startup: { listWait: '20s' }, search: { usage: false }, log };
  writeFileSync(join(home, 'bench.jsonc'), JSON.stringify(config));
  const lists = {};
  for (const exposure of EXPOSURES) lists[exposure] = await listTokens(children, { home, exposure });
  const answers = await askAll(children, { home, queries, estimateTokens });
  const immediateMs = await searchAtOnce(children, { home, query: queries[0] });
  await children.end(upstream);
  return { lists, immediateMs, ...answers };
}

async function start(children, { home, exposure }) {
  const args = ['serve', '--config', join(home, 'bench.jsonc'), '--standalone', '--expose', exposure];
  const running = children.start([gateway, ...args], { env: environment(home) });
  const client = stdioClient(running.child);
  await within(client.open(), 'the gateway did not answer the handshake', running);
  const list = () => within(client.request('tools/list'), 'the gateway did not list its tools', running);
  return { running, client, list, end: () => children.end(running) };
}

/** Tokens of the whole `tools/list`; undefined for an exposure that there is not. */
async function listTokens(children, { home, exposure }) {
  let started;
  try {
    started = await start(children, { home, exposure });
  } catch (error) {
    if (exposure === 'code') return undefined;
    throw error;
  }
  const { tools } = await started.list();
  if (exposure === 'direct' && tools.length !== TOOLS) throw new Error(`there are ${tools.length} tools`);
  await started.end();
  return countTokens(JSON.stringify(tools));
}

async function askAll(children, { home, queries, estimateTokens }) {
  const { running, client, list, end } = await start(children, { home, exposure: 'search' });
  await list();
  const from = performance.now();
  await within(prepared(running), 'the gateway did not make its index', running);
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

async function prepared(running) {
  while (!PREPARED.test(running.stderr)) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** The worst moment to search: nothing is loaded and no index is made yet. */
async function searchAtOnce(children, { home, query }) {
  const { client, end } = await start(children, { home, exposure: 'search' });
  const from = performance.now();
  await client.request('tools/call', { name: 'search_tools', arguments: { query } });
  const ms = performance.now() - from;
  await end();
  return ms;
}
