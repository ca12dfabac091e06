// The test commands:
//
//   npm test                     unit and integration tests: every behaviour once, in minutes
//   npm run test:all             all tests, in every combination of transports, with databases, browsers and faults
//   npm test -- src/protocol     all tests of some files or folders
//   npm test -- --project unit   one tier
//
// None of them installs external programs; `npm run test:setup` does.

import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { build } from './build.mjs';
import { ensure } from './ensure.mjs';

/** Projects of vitest.config.ts that `npm test` runs. */
const QUICK_PROJECTS = ['unit', 'integration'];
/** Tags of the tests that `npm test` leaves to `npm run test:all`. */
const QUICK_FILTER = '!every-cell && !slow';

ensure();
await build();

const { all, rest } = ownArguments(process.argv.slice(2));
const vitest = new URL('../node_modules/vitest/vitest.mjs', import.meta.url);
const reporter = fileURLToPath(new URL('test-reporter.ts', import.meta.url));
mkdirSync('test-results', { recursive: true });
process.argv = [
  process.execPath,
  fileURLToPath(vitest),
  'run',
  `--reporter=${reporter}`,
  '--reporter=junit',
  '--outputFile.junit=test-results/junit.xml',
  ...selection(all, rest),
  ...rest,
];
await import(vitest.href);

function ownArguments(given) {
  return { all: given.includes('--all'), rest: given.filter((argument) => argument !== '--all') };
}

/** Only plain `npm test` leaves tests out: if files or a project are named, all of their tests run. */
function selection(isAll, given) {
  const hasChosen = given.some((argument) => !argument.startsWith('-') || argument.startsWith('--project'));
  if (isAll || hasChosen) return [];
  return [...QUICK_PROJECTS.map((name) => `--project=${name}`), `--tags-filter=${QUICK_FILTER}`];
}
