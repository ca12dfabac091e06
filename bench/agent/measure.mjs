// Measures the calls and tokens of tasks that a scripted agent solves through the built gateway, over servers that answer plausibly.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

import { stdioClient } from '../client/stdio-client.mjs';
import { missingDataMessage } from '../data/public-data.mjs';
import { environment, within } from '../lib/subjects.mjs';
import { runTask } from './agent.mjs';
import { trialCatalog, trialTasks } from './catalog.mjs';

const catalogServer = fileURLToPath(new URL('../fixtures/catalog-server.mjs', import.meta.url));
const gateway = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export async function measureAgent(children) {
  const catalog = trialCatalog();
  const { servers, isPublic } = catalog;
  const tasks = trialTasks(catalog);
  const upstream = children.start([catalogServer, '--trial']);
  const [port] = await once(upstream.child.stdout, 'data');
  const settings = { servers, port: String(port).trim() };
  const notes = isPublic
    ? []
    : [
        missingDataMessage(
          'catalog',
          'The trial uses requests over the generated catalog instead of its tasks.',
        ),
      ];
  const compact = await runAll(children, { ...settings, tasks, results: {} });
  const plain = await runAll(children, { ...settings, tasks, results: { compact: false } });
  await children.end(upstream);
  return { ...compact, plainTokens: plain.tokens, servers: servers.length, isPublic, notes };
}

async function runAll(children, { servers, port, tasks, results }) {
  const home = children.newFolder();
  const entries = servers.map(({ name }) => [
    name,
    { type: 'http', url: `http://127.0.0.1:${port}/s/${encodeURIComponent(name)}` },
  ]);
  const config = {
    mcpServers: Object.fromEntries(entries),
    startup: { listWait: '20s' },
    search: { usage: false },
    results,
  };
  writeFileSync(join(home, 'bench.jsonc'), JSON.stringify(config));
  const args = ['serve', '--config', join(home, 'bench.jsonc'), '--standalone', '--expose', 'search'];
  const running = children.start([gateway, ...args], { env: environment(home) });
  const client = stdioClient(running.child);
  const { instructions = '' } = await within(
    client.open(),
    'the gateway did not answer the handshake',
    running,
  );
  const { tools } = await within(client.request('tools/list'), 'the gateway did not list its tools', running);
  const menu = tools.map(({ _meta, ...tool }) => tool);
  const schemas = new Map(
    servers.flatMap(({ name, tools: own }) => own.map((tool) => [`${name}__${tool.name}`, tool.inputSchema])),
  );
  const solved = [];
  for (const task of tasks) solved.push({ ...task, ...(await runTask(task, { client, schemas })) });
  await children.end(running);
  const sum = (key) => solved.reduce((total, task) => total + task[key], 0);
  return {
    tasks: solved.length,
    done: solved.filter(({ done }) => done).length,
    calls: sum('calls') / solved.length,
    tokens: sum('tokens') / solved.length,
    resultShare: sum('resultTokens') / sum('tokens'),
    firstHit: sum('firstHits') / sum('searches'),
    searches: sum('searches'),
    menu: countTokens(JSON.stringify(menu)),
    instructions: countTokens(instructions),
    kinds: kindsOf(solved),
    failed: solved.filter(({ done }) => !done).map(({ request }) => request),
    missed: solved.filter(({ firstHits, searches }) => firstHits < searches).map(({ request }) => request),
  };
}

function kindsOf(solved) {
  return Object.entries(groupByKind(solved)).map(([kind, group]) => ({
    kind,
    tasks: group.length,
    calls: group.reduce((total, { calls }) => total + calls, 0) / group.length,
    tokens: group.reduce((total, { tokens }) => total + tokens, 0) / group.length,
  }));
}

function groupByKind(solved) {
  const groups = {};
  for (const task of solved) (groups[task.kind] ??= []).push(task);
  return groups;
}

/** Formats the figures with the goals. */
export function agentTable(figures) {
  const { tasks, servers, isPublic, calls, tokens, firstHit, searches, menu, instructions, notes } = figures;
  const row = (name, value, goal, isReached) =>
    `${name.padEnd(44)} ${value.padStart(10)}   ${goal}${isReached ? '' : ' MISSED'}`;
  const percent = (share) => `${(100 * share).toFixed(0)} %`;
  return [
    `\nAgent: ${tasks} tasks of a scripted agent, ${servers} ${isPublic ? 'public' : 'generated'} servers; tokens are o200k`,
    row('tasks done', `${figures.done} of ${tasks}`, '', true),
    row('calls a task', calls.toFixed(2), '≤ 2.6', calls <= 2.6),
    row('tokens of answers a task', tokens.toFixed(0), '≤ 450', tokens <= 450),
    row('  of these, results of tools', percent(figures.resultShare), '', true),
    row('  the same without results.compact', figures.plainTokens.toFixed(0), '', true),
    row(`right tool in the first search, of ${searches}`, percent(firstHit), '≥ 92 %', firstHit >= 0.92),
    row('menu with names of servers, tokens', String(menu), '', true),
    row('instructions, tokens', String(instructions), '≤ 350', instructions <= 350),
    ...figures.kinds.map((group) =>
      row(
        `  ${group.kind} (${group.tasks}): calls, tokens`,
        `${group.calls.toFixed(1)}, ${group.tokens.toFixed(0)}`,
        '',
        true,
      ),
    ),
    ...(figures.failed.length === 0 ? [] : [`Not done: ${figures.failed.join('; ')}`]),
    ...(figures.missed.length === 0 ? [] : [`Not in the first search: ${figures.missed.join('; ')}`]),
    ...notes.map((note) => `Left out: ${note}`),
  ].join('\n');
}
