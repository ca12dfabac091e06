// The tests as CI runs them: a file that fails among all the others is run once more by itself, and is reported as unsteady when it
// passes then. More than a few failing files are no accident of a busy machine and fail at once.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const MOST_UNSTEADY = 3;
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'trunkline-tests-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const first = run('first', []);
if (first.status === 0) process.exit(0);
const files = failedFiles(first.report);
if (files.length === 0 || files.length > MOST_UNSTEADY) process.exit(first.status ?? 1);

console.log(`\nOnce more, by themselves: ${files.join(', ')}\n`);
const second = run('second', files);
if (second.status === 0)
  for (const file of files) console.log(`UNSTEADY: ${file} failed among others and passes alone.`);
process.exit(second.status ?? 1);

function run(name, args) {
  const report = join(folder, `${name}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'test.mjs'), ...args, ...reporters], {
    cwd: root,
    stdio: 'inherit',
  });
  return { status, report };
}

function failedFiles(report) {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    return testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative(root, name));
  } catch {
    return []; // It never came as far as a report.
  }
}
