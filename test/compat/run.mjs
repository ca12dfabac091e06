// npm run compat: runs real clients, libraries and servers from npm against the built gateway, with a scripted model on loopback, and writes
// docs/compatibility.md. `-- --only claude,codex` runs those whose ids contain one of the words; the others keep their results.

import { build } from '../../scripts/build.mjs';
import { checkClient } from './client-checks.mjs';
import { clients } from './clients/clients.mjs';
import { installLibrary, installProgram } from './install.mjs';
import { libraries } from './libraries/libraries.mjs';
import { checkLibrary } from './library-checks.mjs';
import { readResults, writeResults } from './results.mjs';
import { checkLaunchers, launchers } from './servers/launcher-checks.mjs';
import { checkServer } from './servers/server-checks.mjs';
import { servers } from './servers/servers.mjs';
import { startScriptedModel } from './scripted-model.mjs';
import { createWorkspace } from './workspace.mjs';

/** What runs: the subjects, how one is installed, and how it is checked. */
const parts = [
  { part: 'clients', subjects: clients, install: installProgram, check: checkClient },
  { part: 'libraries', subjects: libraries, install: installLibrary, check: checkLibrary },
  { part: 'launchers', subjects: launchers, install: () => [], check: checkLaunchers },
  { part: 'servers', subjects: servers, install: installProgram, check: checkServer },
];

const words = parseArguments(process.argv.slice(2));
const ids = parts.flatMap(({ subjects }) => subjects.map(({ id }) => id));
const unknown = words.filter((word) => !ids.some((id) => id.includes(word)));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. Choose from ${ids.join(', ')}.`);
  process.exit(2);
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
await build();
const results = readResults();
const failures = [];
/** What could not be tried, which is no failure of Trunkline. */
const notInstalled = [];
// Clients mostly wait, so everything else is checked at the same time.
await Promise.all([['clients'], ['launchers', 'servers', 'libraries']].map(runParts));
if (notInstalled.length > 0) console.log(`\nNot tried:\n  ${notInstalled.join('\n  ')}`);
console.log(failures.length === 0 ? '\nAll passed.' : `\nFailed:\n  ${failures.join('\n  ')}`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** Runs the wanted subjects of some parts one after the other, and writes the results after each. */
async function runParts(names) {
  for (const { part, subjects, ...how } of names.map((name) => parts.find((each) => each.part === name))) {
    // Earlier results of what is no longer in the list are dropped.
    const isKnown = ([id]) => subjects.some((subject) => subject.id === id);
    results[part] = Object.fromEntries(Object.entries(results[part] ?? {}).filter(isKnown));
    for (const subject of subjects.filter(isWanted)) {
      const row = await runSubject(subject, how);
      results[part][subject.id] = row;
      if (row.isInstalled === false) notInstalled.push(`${subject.title}: ${row.problem}`);
      else failures.push(...failuresOf(subject, row));
      writeResults(results);
    }
  }
}

function isWanted({ id }) {
  return words.length === 0 || words.some((word) => id.includes(word));
}

/** Installs and checks one subject. Resolves with its row of the results. */
async function runSubject(subject, { install, check }) {
  const version = subject.version ?? versionOf(subject.packages[0]);
  console.log(`\n== ${subject.title} ${version}`);
  const row = { version, date: new Date().toISOString().slice(0, 10), checks: {} };
  let command;
  try {
    command = await install(subject);
  } catch (error) {
    console.log(`${subject.title} cannot be installed: ${error.message}`);
    return { ...row, problem: `cannot be installed: ${error.message}`, isInstalled: false };
  }
  const model = await startScriptedModel();
  const workspace = createWorkspace();
  const start = performance.now();
  const report = (name, outcome, text) => {
    const note = text === undefined ? undefined : workspace.anonymize(text);
    row.checks[name] = note === undefined ? { outcome } : { outcome, note };
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    console.log(
      `${subject.title}: ${outcome.padEnd(4)}${name.padEnd(9)}${seconds.padStart(4)} s  ${note ?? ''}`,
    );
  };
  try {
    Object.assign(row, await check(subject, { command, model, workspace, report }));
  } catch (error) {
    row.problem = workspace.anonymize(error.message);
    console.log(`${subject.title}: ${row.problem}`);
  } finally {
    await workspace.close();
    model.close();
  }
  if (model.unknownPaths().length > 0)
    console.log(
      `${subject.title}: paths that the model does not serve: ${[...new Set(model.unknownPaths())].join(', ')}`,
    );
  return row;
}

function versionOf(packageWithVersion) {
  return packageWithVersion.slice(packageWithVersion.lastIndexOf('@') + 1);
}

function failuresOf({ title }, { problem, checks }) {
  const failed = Object.entries(checks).filter(([, { outcome }]) => outcome === 'no');
  return [
    ...(problem === undefined ? [] : [`${title}: ${problem}`]),
    ...failed.map(([check, { note }]) => `${title}, ${check}: ${note}`),
  ];
}

function parseArguments(args) {
  if (args.length === 0) return [];
  if (args.length === 2 && args[0] === '--only') return args[1].split(',').filter(Boolean);
  console.error('Usage: npm run compat [-- --only NAME,NAME]');
  process.exit(2);
}
