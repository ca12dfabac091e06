// npm run bench: what Trunkline adds to a direct connection, beside a minimal proxy, as ratios within one run.
// docs/benchmarks.md says what each row means.

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { build } from '../scripts/build.mjs';
import { ensure } from '../scripts/ensure.mjs';
import { ownChildren } from './lib/children.mjs';
import { machineLine, summarise, table } from './lib/report.mjs';
import { calls } from './scenarios/calls.mjs';
import { idleMemory } from './scenarios/memory.mjs';
import { start } from './scenarios/start.mjs';

const resultsFile = fileURLToPath(new URL('results.json', import.meta.url));

const plans = {
  quick: {
    callRounds: 13,
    ms: { one: 70, sixteen: 140, many: 100, large: 90 },
    startRounds: 7,
    idleSeconds: 2,
    limitSeconds: 150,
  },
  full: {
    callRounds: 60,
    ms: { one: 200, sixteen: 400, many: 250, large: 250 },
    startRounds: 25,
    idleSeconds: 20,
    limitSeconds: 1200,
  },
};

const scenarios = {
  stdio: (children, options) => calls(children, { ...options, transport: 'stdio' }),
  http: (children, options) => calls(children, { ...options, transport: 'http' }),
  start,
  memory: idleMemory,
};

const usage = `node bench/run.mjs [--quick | --full] [--only ${Object.keys(scenarios).join(',')}] [--no-busy]`;

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
  for (const name of names) {
    process.stderr.write(`measuring ${name} …\n`);
    try {
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
  const seconds = Math.round((performance.now() - begin) / 1000);
  console.log(
    `\nMedians of the rounds; ratios are taken within a round, the middle half of them lies in "half". ${seconds} s.`,
  );
  const report = { mode, isBusy, machine, date: new Date().toISOString(), seconds, failures, rows };
  writeFileSync(resultsFile, `${JSON.stringify(report, null, 2)}\n`);
  return failures.length === 0 ? 0 : 1;
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        full: { type: 'boolean', default: false },
        only: { type: 'string', default: Object.keys(scenarios).join(',') },
        'no-busy': { type: 'boolean', default: false },
      },
    });
    const names = values.only.split(',');
    const unknown = names.find((name) => !Object.hasOwn(scenarios, name));
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
