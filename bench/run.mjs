// npm run bench: measures what Trunkline adds to a direct connection, compared with a minimal proxy and other gateways, as ratios within
// one run. docs/benchmarks.md explains each row.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { build } from '../scripts/build.mjs';
import { ensure } from '../scripts/ensure.mjs';
import { agentTable, measureAgent } from './agent/measure.mjs';
import { auditTable, measureAudit } from './audit/measure.mjs';
import { chart } from './chart/chart.mjs';
import { dashboardTable } from './dashboard/table.mjs';
import { summariseInspection } from './inspection/measure.mjs';
import { inspectionRun, inspectionTable } from './inspection/run.mjs';
import { ownChildren } from './lib/children.mjs';
import { PLANS } from './lib/plans.mjs';
import { insertRun } from './lib/page.mjs';
import { machineLine } from './lib/report.mjs';
import { addResults, newResults, readResults, resultsText, saveResults } from './lib/results.mjs';
import { installPeers } from './peers/install.mjs';
import { PEERS } from './peers/peers.mjs';
import { calls } from './scenarios/calls.mjs';
import { clients } from './scenarios/clients.mjs';
import { cold } from './scenarios/cold.mjs';
import { eras } from './scenarios/eras.mjs';
import { fleet } from './scenarios/fleet.mjs';
import { hung } from './scenarios/hung.mjs';
import { kills } from './scenarios/kills.mjs';
import { idleMemory } from './scenarios/memory.mjs';
import { micro } from './scenarios/micro.mjs';
import { noise } from './scenarios/noise.mjs';
import { start } from './scenarios/start.mjs';
import { tokens } from './scenarios/tokens.mjs';
import { measureSearch } from './search/measure.mjs';
import { searchTables } from './search/report.mjs';

const resultsFile = fileURLToPath(new URL('results.json', import.meta.url));
const chartFile = fileURLToPath(new URL('results.svg', import.meta.url));
const published = {
  chart: fileURLToPath(new URL('../docs/images/benchmark.svg', import.meta.url)),
  page: fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url)),
};

const scenarios = {
  noise,
  stdio: (children, options) => calls(children, { ...options, transport: 'stdio' }),
  http: (children, options) => calls(children, { ...options, transport: 'http' }),
  start,
  cold,
  clients,
  hung,
  kills,
  memory: idleMemory,
  tokens,
  micro,
  eras,
  fleet,
};

/** Parts with their own kind of figures and goals instead of ratios. */
const others = {
  search: {
    measure: (children) => measureSearch({ parts: ['quality', 'product', 'speed'], children }),
    table: searchTables,
  },
  agent: { measure: measureAgent, table: agentTable },
  inspection: { measure: async () => summariseInspection(await inspectionRun()), table: inspectionTable },
  audit: { measure: (children, { plan }) => measureAudit({ children, plan }), table: auditTable },
  dashboard: {
    measure: async (children) => {
      const { measureDashboard } = await import('./dashboard/measure.mjs');
      return measureDashboard({ children });
    },
    table: dashboardTable,
  },
};

const usual = {
  quick: Object.keys(scenarios).filter((name) => !['eras', 'fleet'].includes(name)),
  /** The dashboard needs a browser and is measured on request only. */
  full: [...Object.keys(scenarios), 'search', 'agent', 'inspection', 'audit'],
};
const allNames = [...Object.keys(scenarios), ...Object.keys(others)];

const usage = `node bench/run.mjs [--quick | --full] [--peers | --no-peers] [--only NAME,…] [--no-busy] [--publish]
  names: ${allNames.join(', ')}
  --peers      installs and measures other gateways; the default with --full
  --no-busy    without the busy loop beside the calls
  --publish    writes the results into docs/benchmarks.md and the picture into docs/images`;

process.exitCode = await main();

async function main() {
  const options = readOptions();
  if (options === undefined) return 2;
  ensure();
  await build();
  const children = ownChildren();
  const { mode, isBusy } = options;
  const results = newResults({ mode, isBusy, machine: machineLine(), date: new Date().toISOString() });
  const run = { options, children, results, before: readResults(resultsFile), begin: performance.now() };
  process.on('exit', () => children.killAll());
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void endEarly(run, signal));
  const limit = setTimeout(() => void endEarly(run, 'the time limit'), options.plan.limitSeconds * 1000);
  try {
    await measureAll(run);
  } finally {
    clearTimeout(limit);
    await children.close();
  }
  report(run);
  return results.failures.length === 0 ? 0 : 1;
}

async function measureAll(run) {
  const { options, children, results } = run;
  console.log(`${options.mode}: ${options.names.join(', ')}\n${results.machine}`);
  const peers = options.hasPeers ? await peersHere(results) : [];
  for (const name of options.names) {
    const begin = performance.now();
    process.stderr.write(`measuring ${name} …`);
    try {
      if (Object.hasOwn(others, name)) results.other[name] = await others[name].measure(children, options);
      else addResults(results, await scenarios[name](children, { ...options, peers }));
      process.stderr.write(` ${Math.round((performance.now() - begin) / 1000)} s\n`);
    } catch (error) {
      if (children.isClosed) return;
      results.failures.push({ name, reason: error.message });
      process.stderr.write(`\n${name}: could not be measured: ${error.message}\n`);
    }
    await children.endAll();
    save(run);
  }
}

async function peersHere(results) {
  const { ready, skipped } = await installPeers(PEERS, { say: (text) => process.stderr.write(`${text}\n`) });
  for (const { name, version, reason } of skipped) console.log(`${name} ${version} is left out: ${reason}`);
  results.peers = ready.map(({ name, version }) => ({ name, version }));
  results.skipped = skipped;
  return ready;
}

function save({ results, before, begin }) {
  results.seconds = Math.round((performance.now() - begin) / 1000);
  saveResults(resultsFile, results, before);
}

function report(run) {
  const { options, results } = run;
  save(run);
  const text = [
    resultsText(results),
    ...Object.entries(results.other).map(([name, figures]) => others[name].table(figures)),
  ].join('\n');
  console.log(text);
  console.log(
    `\nMedians of the rounds; ratios are taken within a round, the middle half of them lies in "half". ${results.seconds} s.`,
  );
  const picture = chart(results);
  if (picture !== undefined) writeFileSync(chartFile, picture);
  if (!options.isPublished) return;
  if (picture !== undefined) writeFileSync(published.chart, picture);
  writeFileSync(
    published.page,
    insertRun(readFileSync(published.page, 'utf8'), {
      ...results,
      text,
      picture: picture && 'images/benchmark.svg',
    }),
  );
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        full: { type: 'boolean', default: false },
        peers: { type: 'boolean', default: false },
        'no-peers': { type: 'boolean', default: false },
        only: { type: 'string' },
        'no-busy': { type: 'boolean', default: false },
        publish: { type: 'boolean', default: false },
      },
    });
    const mode = values.full ? 'full' : 'quick';
    const names = values.only?.split(',') ?? usual[mode];
    const unknown = names.find((name) => !allNames.includes(name));
    if (unknown !== undefined) throw new Error(`There is no "${unknown}" to measure.`);
    if (values.quick && values.full) throw new Error('--quick and --full exclude each other.');
    const hasPeers = values.peers || (values.full && !values['no-peers']);
    const isBusy = !values['no-busy'];
    return { mode, plan: PLANS[mode], names, hasPeers, isBusy, isPublished: values.publish };
  } catch (error) {
    console.error(`${error.message}\n${usage}`);
    return undefined;
  }
}

/** Saves and prints the results so far. A second signal ends the process immediately. */
async function endEarly(run, why) {
  if (run.children.isClosed) process.exit(130);
  console.error(`\nended by ${why}`);
  await run.children.close();
  run.results.failures.push({ name: 'the run', reason: `ended by ${why}` });
  report({ ...run, options: { ...run.options, isPublished: false } });
  process.exit(why === 'the time limit' ? 1 : 130);
}
