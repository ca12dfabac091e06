import { setTimeout as sleep } from 'node:timers/promises';

import { isRunning } from '../../support/processes.ts';
import { faults } from '../faults/faults.ts';
import type { Scene } from '../faults/fault.ts';
import type { Journal } from '../journal.ts';
import { type Ledger, count } from '../ledger.ts';
import { type PlannedFault, roundMs } from '../plan.ts';
import { readExecutions } from '../watch/execution-logs.ts';
import { gatewaysOf } from '../watch/gateways.ts';
import { checkServers } from '../watch/server-watch.ts';
import { checkRecovery } from './recovery.ts';

/** Runs faults under load and then waits for quiet: everything is answered, every server works again, and the logs match the answers. */
export async function runRound(
  scene: Scene,
  planned: readonly PlannedFault[],
  { ledger, journal }: { readonly ledger: Ledger; readonly journal: Journal },
): Promise<void> {
  for (const client of scene.clients) client.start();
  const doing = planned.map(async (one) => {
    await sleep(one.atMs);
    journal.note(`${one.kind} begins, for ${one.lastsMs} ms`);
    const target = await faults[one.kind](scene, one);
    if (target === undefined) return;
    count(ledger.faults, one.kind);
    journal.note(`${one.kind} of ${target} is over`);
  });
  await Promise.all([...doing, sleep(roundMs)]);
  await settle(scene, { ledger, journal });
}

/** Waits until no request is open and every server works, and compares the answers with the executions. */
export async function settle(
  scene: Scene,
  { ledger, journal }: { readonly ledger: Ledger; readonly journal: Journal },
): Promise<void> {
  const { clients, stage } = scene;
  await Promise.all(clients.map((client) => client.pause()));
  if (!isRunning(stage.gateway.pid))
    throw new Error(`The gateway exited by itself. Its last output:\n${stage.gateway.stderr().slice(-1500)}`);
  journal.note('all requests have ended');
  await checkRecovery(scene);
  journal.note('all servers work again');
  const mostOf = new Map([
    ['own', clients.length],
    ['addable', stage.config.switches.hasAddable ? 1 : 0],
  ]);
  await checkServers([...gatewaysOf(stage), stage.standalone.pid], ledger, { mostOf });
  const sources = stage.all.map(({ name, log }) => ({ name, file: log }));
  await readExecutions([...sources, { name: 'guarded', file: stage.guarded.log.file }], ledger);
  ledger.prove();
}
