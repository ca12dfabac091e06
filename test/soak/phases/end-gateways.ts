import { setTimeout as sleep } from 'node:timers/promises';

import { eventually } from '../../support/eventually.ts';
import { isRunning } from '../../support/processes.ts';
import type { SoakClient } from '../clients/soak-client.ts';
import type { FaultTargets } from '../faults/fault.ts';
import type { Journal } from '../journal.ts';
import { type RequestTracker, count } from '../request-tracker.ts';
import { scaleDeadline } from '../../support/scale-deadline.ts';
import { shutdownMs } from '../environment/soak-environment.ts';
import { gatewayKilled, gatewayStopped } from '../watch/fault-watch.ts';
import { gatewaysOf } from '../watch/gateways.ts';
import { serversOf } from '../watch/process-watch.ts';
import { settle } from './run-round.ts';

/** Calls get `shutdown` to finish, and ending a server takes up to three seconds; the rest is for a busy machine. */
export const stopWithinMs = shutdownMs + 8000;
/** Time for the servers of a killed gateway to exit. */
const goneWithinMs = 8000;
const loadMs = 1500;

/** Stops or kills every gateway of the home under load, and continues with a new one. */
export async function endGateways(
  targets: FaultTargets,
  how: 'stop' | 'kill',
  records: { readonly tracker: RequestTracker; readonly journal: Journal },
): Promise<void> {
  const { environment, clients } = targets;
  const { tracker, journal } = records;
  for (const client of clients) client.start();
  await sleep(loadMs);
  const mains = clients.filter(({ kind }) => kind.way !== 'alone');
  for (const client of mains) client.ending = { how, since: performance.now() };
  const pids = gatewaysOf(environment);
  const servers = pids.flatMap((pid) => serversOf(pid));
  journal.note(`${how} of ${pids.join(' ')} with ${servers.length} servers`);
  count(tracker.faults, how === 'kill' ? gatewayKilled : gatewayStopped);
  for (const pid of pids) process.kill(pid, how === 'kill' ? 'SIGKILL' : 'SIGTERM');
  if (how === 'kill') environment.killedAt = Date.now();
  await waitUntilExited(pids, how === 'kill' ? 2000 : stopWithinMs, 'gateways', tracker);
  await waitUntilExited(
    servers,
    how === 'kill' ? goneWithinMs : 1000,
    'servers of an ended gateway',
    tracker,
  );
  const { code, signal } = await environment.gateway.exited;
  if (how === 'stop' && code !== 0)
    tracker.violate(`a gateway that was stopped exited with ${signal ?? code}`);
  await environment.gateway[Symbol.asyncDispose]();
  await sleep(loadMs); // Pipes keep sending requests, and find or start another gateway.
  const overHttp = mains.filter(({ kind }) => kind.way !== 'pipe');
  await Promise.all(overHttp.map((client) => client.leave()));
  environment.gateway = await environment.startMain();
  await Promise.all(overHttp.map((client) => reopened(client)));
  await Promise.all(mains.map((client) => client.pause()));
  for (const client of mains) client.ending = undefined;
  await settle(targets, records);
}

async function reopened(client: SoakClient): Promise<void> {
  await client.open();
  client.start();
}

/** Reports a violation if processes still run after the deadline, and then kills them. */
export async function waitUntilExited(
  pids: readonly number[],
  usualMs: number,
  what: string,
  tracker: RequestTracker,
): Promise<void> {
  const withinMs = Math.round(scaleDeadline(usualMs, 'soak'));
  const left = (): readonly number[] => pids.filter((pid) => isRunning(pid));
  await eventually(() => left().length === 0, { withinMs, what }).catch(() => {
    tracker.violate(`${what} still run after ${withinMs} ms: ${left().join(' ')}`);
    for (const pid of left()) process.kill(pid, 'SIGKILL');
  });
}
