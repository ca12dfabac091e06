import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { beginRun } from '../support/begin-run.ts';
import { waitUntilExited, endGateways, stopWithinMs } from './acts/ends.ts';
import { runRound } from './acts/rounds.ts';
import { clientKinds } from './clients/connection.ts';
import { SoakClient } from './clients/soak-client.ts';
import type { Scene } from './faults/fault.ts';
import { Journal } from './journal.ts';
import { Ledger } from './ledger.ts';
import { readSoakOptions, usage } from './options.ts';
import type { SoakOptions } from './options.ts';
import { planOf } from './plan.ts';
import { Random } from './random.ts';
import { reportOf } from './report.ts';
import { Stage } from './stage/stage.ts';
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
  const ledger = new Ledger((text) => {
    journal.note(`VIOLATION ${text}`);
    // One cause may produce a thousand violations; the journal contains all of them.
    if (ledger.violations.length <= SHOWN) console.log(`VIOLATION ${journal.time()}  ${text}`);
  });
  const samples: Sample[] = [];
  const removeRun = beginRun();
  const stage = new Stage();
  const giveUp = giveUpLater(options, ledger);
  try {
    await play({ options, stage, ledger, journal, samples });
  } catch (error) {
    ledger.violate(`the soak itself failed: ${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    clearTimeout(giveUp);
    killRemainingProcesses();
    await stage.close();
  }
  checkFlat(samples, ledger);
  console.log(`\n${reportOf(ledger, samples, stage.impossible)}`);
  const { violations } = ledger;
  if (violations.length === 0) {
    removeRun();
    console.log('\nNo violations.');
    return 0;
  }
  const file = join(tmpdir(), `trunkline-soak-${options.seed}.log`);
  writeFileSync(file, [...journal.lines, '', stage.latestOutput()].join('\n'));
  removeRun();
  console.log(`\n${violations.length} violations. The events and the log of the gateways are in ${file}`);
  console.log(`To repeat this run: ${replay}`);
  return 1;
}

interface Play {
  readonly options: SoakOptions;
  readonly stage: Stage;
  readonly ledger: Ledger;
  readonly journal: Journal;
  readonly samples: Sample[];
}

async function play({ options, stage, ledger, journal, samples }: Play): Promise<void> {
  const random = new Random(options.seed);
  const plan = planOf(options, random);
  for (const [kind, why] of stage.impossible) console.log(`soak: ${kind.toUpperCase()} IS NOT TRIED: ${why}`);
  await stage.openServers();
  using _watch = new ProcessWatch(ledger);
  const clients = clientKinds.map(
    (kind) => new SoakClient(kind, { stage, ledger, random: random.fork(kind.name) }),
  );
  const pipes = clients.filter(({ kind }) => kind.way === 'pipe');
  // Pipes open before there is a gateway: they start one in the background, which serves them alongside the other until they leave.
  await Promise.all(pipes.map((client) => client.open()));
  await stage.openGateways();
  await Promise.all(clients.filter((client) => !pipes.includes(client)).map((client) => client.open()));
  const scene: Scene = { stage, clients };
  for (const [round, planned] of plan.rounds.entries()) {
    journal.note(`round ${round + 1}`);
    await runRound(scene, planned, { ledger, journal });
    samples.push(await takeSample(stage.gateway.pid, stage.probeFile, round + 1));
    const kinds = planned.map(({ kind }) => kind).join(', ');
    console.log(
      `${journal.time()}  round ${round + 1}/${plan.rounds.length}, ${ledger.asked} requests: ${kinds}`,
    );
  }
  for (const [at, how] of plan.ends.entries()) {
    await endGateways(scene, how, { ledger, journal });
    console.log(`${journal.time()}  end ${at + 1}/${plan.ends.length}, ${ledger.asked} requests: ${how}`);
  }
  await finish(scene, ledger);
  checkHappened(ledger, stage.impossible);
}

/** Closes clients and gateways normally and in time; afterwards no process may be left. */
async function finish({ stage, clients }: Scene, ledger: Ledger): Promise<void> {
  await Promise.all(clients.map((client) => client.close()));
  const pids = gatewaysOf(stage);
  for (const pid of pids) process.kill(pid, 'SIGTERM');
  await waitUntilExited([...pids, stage.standalone.pid], stopWithinMs, 'gateways', ledger);
  await Promise.all([stage.gateway, stage.standalone].map((one) => one[Symbol.asyncDispose]()));
  for (const { code, signal } of await Promise.all([stage.gateway.exited, stage.standalone.exited]))
    if (code !== 0) ledger.violate(`a gateway exited with ${signal ?? code}`);
  await stage.close();
  for (const one of findRemainingProcesses()) ledger.violate(`left at the end: ${one}`);
}

/** Exits if the soak hangs. */
function giveUpLater({ minutes, seed }: SoakOptions, ledger: Ledger): NodeJS.Timeout {
  return setTimeout(
    () => {
      console.log(`VIOLATION: the soak of seed ${seed} hangs. Open requests:`);
      for (const { tag, what, server } of ledger.open.slice(0, 20)) console.log(`  ${tag} ${what} ${server}`);
      process.exit(1);
    },
    minutes * 3 * 60_000 + 300_000,
  );
}
