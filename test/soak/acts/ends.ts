import { setTimeout as sleep } from 'node:timers/promises';

import { eventually } from '../../support/eventually.ts';
import { isRunning } from '../../support/processes.ts';
import type { SoakClient } from '../clients/soak-client.ts';
import type { Scene } from '../faults/fault.ts';
import type { Journal } from '../journal.ts';
import { type Ledger, count } from '../ledger.ts';
import { scaleDeadline } from '../../support/scale-deadline.ts';
import { shutdownMs } from '../stage/stage.ts';
import { gatewayKilled, gatewayStopped } from '../watch/fault-watch.ts';
import { gatewaysOf } from '../watch/gateways.ts';
import { serversOf } from '../watch/process-watch.ts';
import { settle } from './rounds.ts';

/** Calls get `shutdown` to finish, and ending a server takes up to three seconds; the rest is for a busy machine. */
export const stopWithinMs = shutdownMs + 8000;
/** Time for the servers of a killed gateway to exit. */
const goneWithinMs = 8000;
const loadMs = 1500;

/** Stops or kills every gateway of the home under load, and continues with a new one. */
export async function endGateways(
  scene: Scene,
  how: 'stop' | 'kill',
  books: { readonly ledger: Ledger; readonly journal: Journal },
): Promise<void> {
  const { stage, clients } = scene;
  const { ledger, journal } = books;
  for (const client of clients) client.start();
  await sleep(loadMs);
  const mains = clients.filter(({ kind }) => kind.way !== 'alone');
  for (const client of mains) client.ending = { how, since: performance.now() };
  const pids = gatewaysOf(stage);
  const servers = pids.flatMap((pid) => serversOf(pid));
  journal.note(`${how} of ${pids.join(' ')} with ${servers.length} servers`);
  count(ledger.faults, how === 'kill' ? gatewayKilled : gatewayStopped);
  for (const pid of pids) process.kill(pid, how === 'kill' ? 'SIGKILL' : 'SIGTERM');
  if (how === 'kill') stage.killedAt = Date.now();
  await waitUntilExited(pids, how === 'kill' ? 2000 : stopWithinMs, 'gateways', ledger);
  await waitUntilExited(servers, how === 'kill' ? goneWithinMs : 1000, 'servers of an ended gateway', ledger);
  const { code, signal } = await stage.gateway.exited;
  if (how === 'stop' && code !== 0)
    ledger.violate(`a gateway that was stopped exited with ${signal ?? code}`);
  await stage.gateway[Symbol.asyncDispose]();
  await sleep(loadMs); // Pipes keep sending requests, and find or start another gateway.
  const overHttp = mains.filter(({ kind }) => kind.way !== 'pipe');
  await Promise.all(overHttp.map((client) => client.leave()));
  stage.gateway = await stage.startMain();
  await Promise.all(overHttp.map((client) => reopened(client)));
  await Promise.all(mains.map((client) => client.pause()));
  for (const client of mains) client.ending = undefined;
  await settle(scene, books);
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
  ledger: Ledger,
): Promise<void> {
  const withinMs = Math.round(scaleDeadline(usualMs, 'soak'));
  const left = (): readonly number[] => pids.filter((pid) => isRunning(pid));
  await eventually(() => left().length === 0, { withinMs, what }).catch(() => {
    ledger.violate(`${what} still run after ${withinMs} ms: ${left().join(' ')}`);
    for (const pid of left()) process.kill(pid, 'SIGKILL');
  });
}
