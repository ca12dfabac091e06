import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { installTools, tools } from './install-tools.mjs';

const folder = dirname(fileURLToPath(import.meta.url));
const shim = join(folder, 'node20-shim.mjs');

/** Installs both releases of the suite if they are missing. */
export function installSuite() {
  if (existsSync(join(tools, 'node_modules', '.package-lock.json'))) return;
  console.log('conformance: installing the suite');
  installTools();
}

/** Runs the suite and returns the outcome of each scenario. The output is kept under `results/`. */
export async function runSuite(name, { release, args }) {
  const said = await run(name, release, args);
  const scenarios = outcomes(said);
  if (scenarios.size === 0) throw new Error(`The suite exited without a summary:\n${said.slice(-2000)}`);
  return scenarios;
}

async function run(name, release, args) {
  const results = join(folder, 'results', name.replaceAll(/[^\w.-]+/g, '-'));
  mkdirSync(results, { recursive: true });
  const program = join(tools, 'node_modules', `conformance-${release}`, 'dist', 'index.js');
  const child = spawn(process.execPath, ['--import', shim, program, ...args, '-o', results], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (said += text));
  await new Promise((resolve) => child.on('close', resolve));
  writeFileSync(join(results, 'output.txt'), said);
  return said;
}

/** Runs scenarios with Trunkline as the client, one by one; returns the same structure as `runSuite`. */
export async function runClientScenarios(name, { scenarios, version, driver, force = false }) {
  const client = `"${process.execPath}" client-under-test.mjs --driver ${driver}`;
  const found = new Map();
  for (const scenario of scenarios) {
    const args = ['client', '--command', client, '--scenario', scenario, '--spec-version', version];
    if (force) args.push('--force');
    const said = await run(`${name} ${scenario}`, 'newest', args);
    const [, passed = 0, all = 0] = /^Passed: (\d+)\/(\d+)/m.exec(said) ?? [];
    const ok = said.includes('OVERALL: PASSED');
    found.set(scenario, { ok, passed: Number(passed), failed: Number(all) - Number(passed) });
  }
  return found;
}

/** Parses the summary: returns the scored scenarios and whether they passed. */
function outcomes(said) {
  const summary = said.slice(said.lastIndexOf('=== SUMMARY ==='));
  const [scored, unscored = ''] = summary.split('\nNot scored');
  const ignored = new Set([...unscored.matchAll(/^ +[✓✗~?] (\S+) \(/gmu)].map(([, name]) => name));
  const lines = [...scored.matchAll(/^([✓✗]) ([\w/-]+): (\d+) passed, (\d+) failed/gmu)];
  return new Map(
    lines.flatMap(([, mark, name, passed, failed]) =>
      ignored.has(name) ? [] : [[name, { ok: mark === '✓', passed: Number(passed), failed: Number(failed) }]],
    ),
  );
}
