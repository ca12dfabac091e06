// npm run bench: what Trunkline adds to a direct connection, beside a minimal proxy, as ratios within one run.
// docs/benchmarks.md says what each row means.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { build } from '../scripts/build.mjs';
import { ensure } from '../scripts/ensure.mjs';
import { ownChildren } from './lib/children.mjs';
import { auditTable, measureAudit } from './audit/measure.mjs';
import { dashboardTable } from './dashboard/table.mjs';
import { machineLine, summarise, table } from './lib/report.mjs';
import { summariseInspection } from './inspection/measure.mjs';
import { inspectionRun, inspectionTable } from './inspection/run.mjs';
import { calls } from './scenarios/calls.mjs';
import { idleMemory } from './scenarios/memory.mjs';
import { start } from './scenarios/start.mjs';
import { measureSearch } from './search/measure.mjs';
import { searchTables } from './search/report.mjs';

const resultsFile = fileURLToPath(new URL('results.json', import.meta.url));

const plans = {
  quick: {
    callRounds: 13,
    ms: { one: 70, sixteen: 140, many: 100, large: 90 },
    startRounds: 7,
    idleSeconds: 2,
    auditSeconds: 3,
    limitSeconds: 240,
  },
  full: {
    callRounds: 60,
    ms: { one: 200, sixteen: 400, many: 250, large: 250 },
    startRounds: 25,
    idleSeconds: 20,
    auditSeconds: 15,
    limitSeconds: 1200,
  },
};

const scenarios = {
  stdio: (children, options) => calls(children, { ...options, transport: 'stdio' }),
  http: (children, options) => calls(children, { ...options, transport: 'http' }),
  start,
  memory: idleMemory,
};

/** Has figures and goals of its own kind instead of ratios. */
const SEARCH = 'search';
const INSPECTION = 'inspection';
const AUDIT = 'audit';
const DASHBOARD = 'dashboard';
const usualNames = [...Object.keys(scenarios), SEARCH, INSPECTION, AUDIT];
/** The last needs a browser, and is measured only where it is asked for. */
const allNames = [...usualNames, DASHBOARD];

const usage = `node bench/run.mjs [--quick | --full] [--only ${allNames.join(',')}] [--no-busy]`;

process.exitCode = await main();

async function main() {
  const options = readOptions();
  if (options === undefined) return 2;
  ensure();
  await build();
  const children = ownChildren();
  process.on('exit', () => children.killAll());
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void endEarly(children, signal));
  const limit = setTimeout(() => void endEarly(children, 'the time limit'), options.plan.limitSeconds * 1000);
  try {
    return await measure(children, options);
  } finally {
    clearTimeout(limit);
    await children.close();
  }
}

async function measure(children, { mode, plan, names, isBusy }) {
  const begin = performance.now();
  const machine = machineLine();
  console.log(
    `${mode}: ${plan.callRounds} rounds, ${isBusy ? 'one busy loop beside the calls' : 'no busy loop'}\n${machine}`,
  );
  const rows = [];
  const failures = [];
  let search;
  let inspection;
  let audit;
  let dashboard;
  for (const name of names) {
    process.stderr.write(`measuring ${name} …\n`);
    try {
      if (name === SEARCH) {
        search = await measureSearch({ parts: ['quality', 'product', 'speed'], children });
        continue;
      }
      if (name === INSPECTION) {
        inspection = summariseInspection(await inspectionRun());
        continue;
      }
      if (name === AUDIT) {
        audit = await measureAudit({ children, plan });
        continue;
      }
      if (name === DASHBOARD) {
        const { measureDashboard } = await import('./dashboard/measure.mjs');
        dashboard = await measureDashboard({ children });
        continue;
      }
      const measured = await scenarios[name](children, { plan, isBusy });
      rows.push(...measured.map(summarise));
      if (measured.length === 0) console.log(`${name}: not measured, there is no /proc`);
    } catch (error) {
      if (children.isClosed) return 1;
      failures.push(name);
      console.error(`${name}: could not be measured: ${error.message}`);
      await children.endAll();
    }
  }
  console.log(table(rows));
  if (search !== undefined) console.log(searchTables(search));
  if (inspection !== undefined) console.log(inspectionTable(inspection));
  if (audit !== undefined) console.log(auditTable(audit));
  if (dashboard !== undefined) console.log(dashboardTable(dashboard));
  const seconds = Math.round((performance.now() - begin) / 1000);
  console.log(
    `\nMedians of the rounds; ratios are taken within a round, the middle half of them lies in "half". ${seconds} s.`,
  );
  const date = new Date().toISOString();
  const before = resultsBefore();
  // What was not measured stays as it was, with the machine and the date that it was measured on.
  const others = names.some((name) => Object.hasOwn(scenarios, name))
    ? { mode, isBusy, machine, date, seconds, failures, rows }
    : before;
  const report = {
    ...others,
    search: search === undefined ? before.search : { machine, date, ...search },
    inspection: inspection ?? before.inspection,
    audit: audit === undefined ? before.audit : { machine, date, ...audit },
    dashboard: dashboard === undefined ? before.dashboard : { machine, date, ...dashboard },
  };
  writeFileSync(resultsFile, `${JSON.stringify(report, null, 2)}\n`);
  return failures.length === 0 ? 0 : 1;
}

function resultsBefore() {
  try {
    return JSON.parse(readFileSync(resultsFile, 'utf8'));
  } catch {
    return {}; // There are none, or none that can be read.
  }
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        full: { type: 'boolean', default: false },
        only: { type: 'string', default: usualNames.join(',') },
        'no-busy': { type: 'boolean', default: false },
      },
    });
    const names = values.only.split(',');
    const unknown = names.find((name) => !allNames.includes(name));
    if (unknown !== undefined || (values.quick && values.full))
      throw new Error(unknown ?? '--quick and --full');
    const mode = values.full ? 'full' : 'quick';
    return { mode, plan: plans[mode], names, isBusy: !values['no-busy'] };
  } catch (error) {
    console.error(`${error.message}\n${usage}`);
    return undefined;
  }
}

/** A second signal does not wait. */
async function endEarly(children, why) {
  if (children.isClosed) process.exit(130);
  console.error(`\nended by ${why}`);
  await children.close();
  process.exit(why === 'the time limit' ? 1 : 130);
}
