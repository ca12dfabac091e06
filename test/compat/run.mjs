// npm run compat: runs real clients from npm against the built gateway, with a scripted model on loopback, and writes docs/compatibility.md.
// `-- --only claude-code,codex` runs those whose ids contain one of the words; the others keep their results.

import { build } from '../../scripts/build.mjs';
import { checkClient } from './client-checks.mjs';
import { clients } from './clients/clients.mjs';
import { installClient } from './install.mjs';
import { readResults, writeResults } from './results.mjs';
import { startScriptedModel } from './scripted-model.mjs';
import { createWorkspace } from './workspace.mjs';

const words = parseArguments(process.argv.slice(2));
const isWanted = ({ id }) => words.length === 0 || words.some((word) => id.includes(word));
const ids = clients.map(({ id }) => id);
const unknown = words.filter((word) => !ids.some((id) => id.includes(word)));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. Choose from ${ids.join(', ')}.`);
  process.exit(2);
}

await build();
const results = readResults();
const failures = [];
for (const client of clients.filter(isWanted)) {
  const row = await runClient(client);
  results.clients[client.id] = row;
  failures.push(...failuresOf(client, row));
  writeResults(results);
}
console.log(failures.length === 0 ? '\nAll passed.' : `\nFailed:\n  ${failures.join('\n  ')}`);
process.exitCode = failures.length === 0 ? 0 : 1;

async function runClient(client) {
  console.log(`\n== ${client.title} ${client.version}`);
  const row = { version: client.version, date: new Date().toISOString().slice(0, 10), checks: {} };
  let command;
  try {
    command = await installClient(client);
  } catch (error) {
    console.log(`cannot be installed: ${error.message}`);
    return { ...row, problem: `cannot be installed: ${error.message}` };
  }
  const model = await startScriptedModel();
  const workspace = createWorkspace();
  const start = performance.now();
  const report = (check, outcome, text) => {
    const note = text === undefined ? undefined : workspace.anonymize(text);
    row.checks[check] = note === undefined ? { outcome } : { outcome, note };
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    console.log(`${outcome.padEnd(4)}${check.padEnd(9)}${seconds.padStart(4)} s  ${note ?? ''}`);
  };
  try {
    await checkClient(client, { command, model, workspace, report });
  } catch (error) {
    console.log(error.message);
    row.problem = workspace.anonymize(error.message);
  } finally {
    workspace.close();
    model.close();
  }
  if (model.unknownPaths().length > 0)
    console.log(`paths that the model does not serve: ${[...new Set(model.unknownPaths())].join(', ')}`);
  return row;
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
