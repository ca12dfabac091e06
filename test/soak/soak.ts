import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { beginRun } from '../support/begin-run.ts';
import { waitUntilExited, endGateways, stopWithinMs } from './phases/end-gateways.ts';
import { runRound } from './phases/run-round.ts';
import { clientKinds } from './clients/connection.ts';
import { SoakClient } from './clients/soak-client.ts';
import type { FaultTargets } from './faults/fault.ts';
import { Journal } from './journal.ts';
import { RequestTracker } from './request-tracker.ts';
import { readSoakOptions, usage } from './options.ts';
import type { SoakOptions } from './options.ts';
import { planOf } from './plan.ts';
import { Random } from './random.ts';
import { reportOf } from './report.ts';
import { SoakEnvironment } from './environment/soak-environment.ts';
import { checkHappened } from './watch/fault-watch.ts';
import { gatewaysOf } from './watch/gateways.ts';
import { type Sample, checkFlat, takeSample } from './watch/memory-watch.ts';
import { ProcessWatch, killRemainingProcesses, findRemainingProcesses } from './watch/process-watch.ts';

const SHOWN = 30;

/** Runs the plan of a seed and reports violations; returns the exit code of `npm run soak`. */
export async function soak(argv: readonly string[]): Promise<number> {
  let options: SoakOptions;
  try {
    options = readSoakOptions(argv);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return 2;
  }
  const replay = `npm run soak -- --seed ${options.seed} --minutes ${options.minutes}`;
  console.log(`soak: ${replay}`);
  const journal = new Journal();
  const tracker = new RequestTracker((text) => {
    journal.note(`VIOLATION ${text}`);
    // One cause may produce a thousand violations; the journal contains all of them.
    if (tracker.violations.length <= SHOWN) console.log(`VIOLATION ${journal.time()}  ${text}`);
  });
  const samples: Sample[] = [];
  const removeRun = beginRun();
  const environment = new SoakEnvironment();
  const giveUp = giveUpLater(options, tracker);
  try {
    await play({ options, environment, tracker, journal, samples });
  } catch (error) {
    tracker.violate(`the soak itself failed: ${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    clearTimeout(giveUp);
    killRemainingProcesses();
    await environment.close();
  }
  checkFlat(samples, tracker);
  console.log(`\n${reportOf(tracker, samples, environment.impossible)}`);
  const { violations } = tracker;
  if (violations.length === 0) {
    removeRun();
    console.log('\nNo violations.');
    return 0;
  }
  const file = join(tmpdir(), `trunkline-soak-${options.seed}.log`);
  writeFileSync(file, [...journal.lines, '', environment.latestOutput()].join('\n'));
  removeRun();
  console.log(`\n${violations.length} violations. The events and the log of the gateways are in ${file}`);
  console.log(`To repeat this run: ${replay}`);
  return 1;
}

interface Play {
  readonly options: SoakOptions;
  readonly environment: SoakEnvironment;
  readonly tracker: RequestTracker;
  readonly journal: Journal;
  readonly samples: Sample[];
}

async function play({ options, environment, tracker, journal, samples }: Play): Promise<void> {
  const random = new Random(options.seed);
  const plan = planOf(options, random);
  for (const [kind, why] of environment.impossible)
    console.log(`soak: ${kind.toUpperCase()} IS NOT TRIED: ${why}`);
  await environment.openServers();
  using _watch = new ProcessWatch(tracker);
  const clients = clientKinds.map(
    (kind) => new SoakClient(kind, { environment, tracker, random: random.fork(kind.name) }),
  );
  const pipes = clients.filter(({ kind }) => kind.way === 'pipe');
  // Pipes open before there is a gateway: they start one in the background, which serves them alongside the other until they leave.
  await Promise.all(pipes.map((client) => client.open()));
  await environment.openGateways();
  await Promise.all(clients.filter((client) => !pipes.includes(client)).map((client) => client.open()));
  const targets: FaultTargets = { environment, clients };
  for (const [round, planned] of plan.rounds.entries()) {
    journal.note(`round ${round + 1}`);
    await runRound(targets, planned, { tracker, journal });
    samples.push(await takeSample(environment.gateway.pid, environment.probeFile, round + 1));
    const kinds = planned.map(({ kind }) => kind).join(', ');
    console.log(
      `${journal.time()}  round ${round + 1}/${plan.rounds.length}, ${tracker.requestCount} requests: ${kinds}`,
    );
  }
  for (const [at, how] of plan.ends.entries()) {
    await endGateways(targets, how, { tracker, journal });
    console.log(
      `${journal.time()}  end ${at + 1}/${plan.ends.length}, ${tracker.requestCount} requests: ${how}`,
    );
  }
  await finish(targets, tracker);
  checkHappened(tracker, environment.impossible);
}

/** Closes clients and gateways normally and in time; afterwards no process may be left. */
async function finish({ environment, clients }: FaultTargets, tracker: RequestTracker): Promise<void> {
  await Promise.all(clients.map((client) => client.close()));
  const pids = gatewaysOf(environment);
  for (const pid of pids) process.kill(pid, 'SIGTERM');
  await waitUntilExited([...pids, environment.standalone.pid], stopWithinMs, 'gateways', tracker);
  await Promise.all([environment.gateway, environment.standalone].map((one) => one[Symbol.asyncDispose]()));
  for (const { code, signal } of await Promise.all([
    environment.gateway.exited,
    environment.standalone.exited,
  ]))
    if (code !== 0) tracker.violate(`a gateway exited with ${signal ?? code}`);
  await environment.close();
  for (const one of findRemainingProcesses()) tracker.violate(`left at the end: ${one}`);
}

/** Exits if the soak hangs. */
function giveUpLater({ minutes, seed }: SoakOptions, tracker: RequestTracker): NodeJS.Timeout {
  return setTimeout(
    () => {
      console.log(`VIOLATION: the soak of seed ${seed} hangs. Open requests:`);
      for (const { tag, what, server } of tracker.open.slice(0, 20))
        console.log(`  ${tag} ${what} ${server}`);
      process.exit(1);
    },
    minutes * 3 * 60_000 + 300_000,
  );
}
