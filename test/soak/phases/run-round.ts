import { setTimeout as sleep } from 'node:timers/promises';

import { isRunning } from '../../support/processes.ts';
import { faults } from '../faults/faults.ts';
import type { FaultTargets } from '../faults/fault.ts';
import type { Journal } from '../journal.ts';
import { type RequestTracker, count } from '../request-tracker.ts';
import { type PlannedFault, roundMs } from '../plan.ts';
import { readExecutions } from '../watch/execution-logs.ts';
import { gatewaysOf } from '../watch/gateways.ts';
import { checkServers } from '../watch/server-watch.ts';
import { checkRecovery } from './check-recovery.ts';

/** Runs faults under load and then waits for quiet: everything is answered, every server works again, and the logs match the answers. */
export async function runRound(
  targets: FaultTargets,
  planned: readonly PlannedFault[],
  { tracker, journal }: { readonly tracker: RequestTracker; readonly journal: Journal },
): Promise<void> {
  for (const client of targets.clients) client.start();
  const doing = planned.map(async (one) => {
    await sleep(one.atMs);
    journal.note(`${one.kind} begins, for ${one.lastsMs} ms`);
    const target = await faults[one.kind](targets, one);
    if (target === undefined) return;
    count(tracker.faults, one.kind);
    journal.note(`${one.kind} of ${target} is over`);
  });
  await Promise.all([...doing, sleep(roundMs)]);
  await settle(targets, { tracker, journal });
}

/** Waits until no request is open and every server works, and compares the answers with the executions. */
export async function settle(
  targets: FaultTargets,
  { tracker, journal }: { readonly tracker: RequestTracker; readonly journal: Journal },
): Promise<void> {
  const { clients, environment } = targets;
  await Promise.all(clients.map((client) => client.pause()));
  if (!isRunning(environment.gateway.pid))
    throw new Error(
      `The gateway exited by itself. Its last output:\n${environment.gateway.stderr().slice(-1500)}`,
    );
  journal.note('all requests have ended');
  await checkRecovery(targets);
  journal.note('all servers work again');
  const mostOf = new Map([
    ['own', clients.length],
    ['addable', environment.config.switches.hasAddable ? 1 : 0],
  ]);
  await checkServers([...gatewaysOf(environment), environment.standalone.pid], tracker, { mostOf });
  const sources = environment.all.map(({ name, log }) => ({ name, file: log }));
  await readExecutions([...sources, { name: 'guarded', file: environment.guarded.log.file }], tracker);
  tracker.prove();
}
