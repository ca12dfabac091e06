// npm run conformance: runs the official suite against a gateway in front of our fixture server, in every combination of eras and transports.
// Arguments select the arrangements whose names contain one of them; without arguments, all run.

import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from '../../scripts/build.mjs';
import { arrangements } from './arrangements.mjs';
import { readExpectedFailures } from './expected-failures.mjs';
import { installSuite, runClientScenarios, runSuite } from './suite.mjs';
import { startStage } from './stage.mjs';

const folder = dirname(fileURLToPath(import.meta.url));
const expected = readExpectedFailures(join(folder, 'expected-failures.yml'));
const wanted = process.argv.slice(2);
const unknown = [...expected.keys()].filter((name) => !arrangements.some((one) => one.name === name));
if (unknown.length > 0)
  throw new Error(`expected-failures.yml names unknown arrangements: ${unknown.join(', ')}`);

installSuite();
await build();
rmSync(join(folder, 'results'), { recursive: true, force: true });

let isFailed = false;
const stage = await startStage();
try {
  for (const { name, release, args, client } of arrangements) {
    if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue;
    const run =
      client === undefined
        ? runSuite(name, { release, args: args(stage) })
        : runClientScenarios(name, client);
    report(name, await run);
  }
} finally {
  await stage.stop();
}
process.exitCode = isFailed ? 1 : 0;

function report(name, scenarios) {
  const reasons = expected.get(name) ?? new Map();
  const passed = [...scenarios].filter(([, { ok }]) => ok).map(([scenario]) => scenario);
  const failed = [...scenarios.keys()].filter((scenario) => !passed.includes(scenario));
  const surprises = [
    ...failed.filter((scenario) => !reasons.has(scenario)).map((scenario) => `fails: ${scenario}`),
    ...[...reasons.keys()]
      .filter((scenario) => !failed.includes(scenario))
      .map((scenario) => `expected to fail, but passes: ${scenario}`),
  ];
  if (surprises.length > 0) isFailed = true;
  console.log(
    `${surprises.length === 0 ? 'ok    ' : 'FAILED'} ${passed.length}/${scenarios.size}  ${name}` +
      (failed.length > surprises.length ? ` (${reasons.size} expected failures)` : ''),
  );
  for (const surprise of surprises) console.log(`         ${surprise}`);
}
