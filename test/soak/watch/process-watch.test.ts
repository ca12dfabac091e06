import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { afterEach, expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder, testRun } from '../../support/test-run.ts';
import { waitUntilExited } from '../phases/end-gateways.ts';
import { RequestTracker } from '../request-tracker.ts';
import { ProcessWatch, killRemainingProcesses, findRemainingProcesses, startedBy } from './process-watch.ts';
import { checkServers } from './server-watch.ts';

checkLeaks();

const graceMs = 300;
const patience = { withinMs: 20_000 };
const children: ChildProcess[] = [];
/** A command that runs until it is killed, accepts any arguments, and neither starts nor reaps processes. */
const idle = 'tail -F --';

afterEach(async () => {
  killRemainingProcesses();
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
});

/** Starts a shell with these arguments. The watch classifies processes by the arguments in their command line. */
function shell(script: string, ...words: readonly string[]): ChildProcess {
  const child = spawn('sh', ['-c', script, 'sh', ...words], { stdio: 'ignore' });
  children.push(child);
  return child;
}

function server(): string {
  return `--run=${testRun().id}`;
}

/** Runs a watch until it reports a violation, and returns the violations. */
async function watched(): Promise<readonly string[]> {
  const tracker = new RequestTracker(() => {});
  using _watch = new ProcessWatch(tracker, { graceMs });
  await eventually(() => tracker.violations.length > 0, patience);
  return tracker.violations;
}

test('process watch: detects a zombie that its parent does not reap', async () => {
  // The child of the shell exits at once, and the program that replaces the shell never reaps it.
  const { pid } = shell('sleep 0 & exec sleep 60');
  expect(await watched()).toEqual([expect.stringMatching(new RegExp(`zombie \\d+ of ${pid}$`))]);
});

test('process watch: detects a zombie of a background gateway', async () => {
  // Detached from its parent, like a background gateway, and recognised only by its command line.
  const gateway = join(temporaryFolder(), 'serve');
  shell(`sh -c 'sleep 0 & exec ${idle} "$1" serve' sh "$1" & exit 0`, gateway);
  expect(await watched()).toEqual([expect.stringMatching(/zombie \d+ of \d+$/)]);
});

test('process watch: detects a server whose gateway is gone', async () => {
  shell(`${idle} "$1" & exit 0`, server());
  expect(await watched()).toEqual([expect.stringMatching(/orphan \d+: .*--run=/)]);
});

test('process watch: ignores a server below a gateway and reports an orphan once', async () => {
  const gateway = join(temporaryFolder(), 'serve');
  shell(`${idle} "$2" & wait`, gateway, server());
  shell(`${idle} "$1" & exit 0`, server());
  const tracker = new RequestTracker(() => {});
  using _watch = new ProcessWatch(tracker, { graceMs });
  await eventually(() => tracker.violations.length > 0, patience);
  // The watch checks everything at once, and several more times during this pause.
  await new Promise((resolve) => setTimeout(resolve, 4 * graceMs));
  expect(tracker.violations).toEqual([expect.stringContaining('orphan')]);
});

test('process watch: reports and kills a process that does not end in time', async () => {
  const tracker = new RequestTracker(() => {});
  const { pid = 0 } = shell('exec sleep 60');
  await waitUntilExited([pid], graceMs, 'gateways', tracker);
  expect(tracker.violations).toEqual([
    expect.stringMatching(new RegExp(`^gateways still run after \\d+ ms: ${pid}$`)),
  ]);
  await waitUntilExited([pid], patience.withinMs, 'gateways', tracker);
  expect(tracker.violations).toHaveLength(1);
});

test('process watch: detects a process that is left at the end', async () => {
  expect(findRemainingProcesses()).toEqual([]);
  const { pid } = shell(`exec ${idle} "$1"`, server());
  await eventually(() => findRemainingProcesses().length > 0, patience);
  expect(findRemainingProcesses()).toEqual([expect.stringContaining(`${pid}: `)]);
});

test('process watch: detects duplicate and unconfigured server processes', async () => {
  const tracker = new RequestTracker(() => {});
  const start = (name: string): string => `${idle} "$1" --name ${name} & `;
  const names = ['one', 'one', 'two', 'own', 'own', 'addable'];
  const { pid = 0 } = shell(`${names.map(start).join('')} wait`, server());
  const mostOf = new Map([
    ['own', 2],
    ['addable', 0],
  ]);
  // A forked child has the command line of its shell until it has executed the server.
  const started = (): number => [...startedBy(pid).values()].reduce((sum, count) => sum + count, 0);
  await eventually(() => started() === names.length, patience);
  await checkServers([pid], tracker, { mostOf, withinMs: graceMs });
  expect(tracker.violations).toEqual([expect.stringContaining('2 of one, 1 of addable')]);
});
