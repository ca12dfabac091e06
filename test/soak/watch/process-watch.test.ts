import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { afterEach, expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder, testRun } from '../../support/test-run.ts';
import { gone } from '../acts/ends.ts';
import { Ledger } from '../ledger.ts';
import { ProcessWatch, endWhatIsLeft, processesLeft } from './process-watch.ts';
import { checkServers } from './server-watch.ts';

checkLeaks();

const graceMs = 300;
const patience = { withinMs: 20_000 };
const children: ChildProcess[] = [];
/** Stays until it is ended, with whatever words on its command line, and starts and reaps nobody. */
const idle = 'tail -F --';

afterEach(async () => {
  endWhatIsLeft();
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
});

/** A shell with these words; what is told apart by command lines sees the further ones. */
function shell(script: string, ...words: readonly string[]): ChildProcess {
  const child = spawn('sh', ['-c', script, 'sh', ...words], { stdio: 'ignore' });
  children.push(child);
  return child;
}

function server(): string {
  return `--run=${testRun().id}`;
}

/** The violations of a watch that looks until it has one. */
async function watched(): Promise<readonly string[]> {
  const ledger = new Ledger(() => {});
  using _watch = new ProcessWatch(ledger, { graceMs });
  await eventually(() => ledger.violations.length > 0, patience);
  return ledger.violations;
}

test('notices a dead process that nobody reaps', async () => {
  // What the shell starts ends at once, and what the shell becomes never asks how.
  const { pid } = shell('sleep 0 & exec sleep 60');
  expect(await watched()).toEqual([expect.stringMatching(new RegExp(`zombie \\d+ of ${pid}$`))]);
});

test('notices a dead process that a gateway in the background does not reap', async () => {
  // Nobody's child, like such a gateway, and told by its command line alone.
  const gateway = join(temporaryFolder(), 'serve');
  shell(`sh -c 'sleep 0 & exec ${idle} "$1" serve' sh "$1" & exit 0`, gateway);
  expect(await watched()).toEqual([expect.stringMatching(/zombie \d+ of \d+$/)]);
});

test('notices a server whose gateway is gone', async () => {
  shell(`${idle} "$1" & exit 0`, server());
  expect(await watched()).toEqual([expect.stringMatching(/orphan \d+: .*--run=/)]);
});

test('has nothing to say about a server below a gateway, and says everything once', async () => {
  const gateway = join(temporaryFolder(), 'serve');
  shell(`${idle} "$2" & wait`, gateway, server());
  shell(`${idle} "$1" & exit 0`, server());
  const ledger = new Ledger(() => {});
  using _watch = new ProcessWatch(ledger, { graceMs });
  await eventually(() => ledger.violations.length > 0, patience);
  // The watch looks at everything at once, and some more times while this one passes.
  await new Promise((resolve) => setTimeout(resolve, 4 * graceMs));
  expect(ledger.violations).toEqual([expect.stringContaining('orphan')]);
});

test('notices what does not end in time, and ends it', async () => {
  const ledger = new Ledger(() => {});
  const { pid = 0 } = shell('exec sleep 60');
  await gone([pid], graceMs, 'gateways', ledger);
  expect(ledger.violations).toEqual([
    expect.stringMatching(new RegExp(`^gateways are there after \\d+ ms: ${pid}$`)),
  ]);
  await gone([pid], patience.withinMs, 'gateways', ledger);
  expect(ledger.violations).toHaveLength(1);
});

test('notices a process that is left at the end', async () => {
  expect(processesLeft()).toEqual([]);
  const { pid } = shell(`exec ${idle} "$1"`, server());
  await eventually(() => processesLeft().length > 0, patience);
  expect(processesLeft()).toEqual([expect.stringContaining(`${pid}: `)]);
});

test('notices two processes of one server, and one that the configuration does not name', async () => {
  const ledger = new Ledger(() => {});
  const start = (name: string): string => `${idle} "$1" --name ${name} & `;
  const names = ['one', 'one', 'two', 'own', 'own', 'lodger'];
  const { pid = 0 } = shell(`${names.map(start).join('')} wait`, server());
  const mostOf = new Map([
    ['own', 2],
    ['lodger', 0],
  ]);
  await eventually(() => processesLeft().length >= names.length, patience);
  await checkServers([pid], ledger, { mostOf, withinMs: graceMs });
  expect(ledger.violations).toEqual([expect.stringContaining('2 of one, 1 of lodger')]);
});
