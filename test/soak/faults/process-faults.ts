import { setTimeout as sleep } from 'node:timers/promises';

import { eventually, waitForValue } from '../../support/eventually.ts';
import { runningProcesses } from '../../support/processes.ts';
import { testRun } from '../../support/test-run.ts';
import type { Random } from '../random.ts';
import type { HttpServer } from '../environment/http-server.ts';
import type { Misbehaviour, MisbehavingServer } from '../environment/misbehaving-server.ts';
import type { SoakEnvironment } from '../environment/soak-environment.ts';
import type { Fault } from './fault.ts';

/** Time within which a server that is currently killed or suspended runs again and is called again. */
const patienceMs = 10_000;

/** Kills a server, as the kernel does when memory is short. */
export const kill: Fault = async ({ environment }, { random, lastsMs }) => {
  const one = await running(environment, random);
  if (one?.http !== undefined) await one.http.restart(lastsMs);
  else for (const pid of one?.pids ?? []) signal(pid, 'SIGKILL');
  return one?.server.name;
};

/** Suspends and resumes a server. */
export const hang: Fault = async ({ environment }, { random, lastsMs }) => {
  const one = await running(environment, random);
  for (const pid of one?.pids ?? []) signal(pid, 'SIGSTOP');
  await sleep(lastsMs);
  for (const pid of one?.pids ?? []) signal(pid, 'SIGCONT');
  return one?.server.name;
};

/** Makes a server misbehave for a while, and at least until a call has met it. */
export function misbehave(misbehaviour: Misbehaviour): Fault {
  return async ({ environment }, { random, lastsMs }) => {
    const able = targets(environment).filter((server) => canAffect(misbehaviour, environment, server));
    // A server can misbehave in only one way at a time.
    const server = random.shuffled(able).find(({ isFine }) => isFine) ?? random.pick(able);
    const before = server.countMisbehaviour(misbehaviour);
    server.misbehave(misbehaviour);
    const acted = eventually(() => server.countMisbehaviour(misbehaviour) > before, {
      withinMs: lastsMs + patienceMs,
    });
    const [isMet] = await Promise.all([
      acted.then(
        () => true,
        () => false,
      ),
      sleep(lastsMs),
    ]);
    server.misbehave('fine');
    return isMet ? server.name : undefined;
  };
}

/** Makes a server add or remove a tool and announce the change. */
export const listChange: Fault = async ({ environment }, { random }) => {
  const one = await running(environment, random, ({ name }) => name !== 'launched');
  for (const pid of one?.pids ?? []) signal(pid, 'SIGUSR2');
  return one?.server.name;
};

/** A gateway does not see the standard streams of a server over HTTP. */
function canAffect(
  misbehaviour: Misbehaviour,
  environment: SoakEnvironment,
  server: MisbehavingServer,
): boolean {
  return !misbehaviour.startsWith('flood') || overHttp(environment, server) === undefined;
}

interface Running {
  readonly server: MisbehavingServer;
  readonly http: HttpServer | undefined;
  readonly pids: readonly number[];
}

/** Returns the first server in random order that has a process. */
function running(
  environment: SoakEnvironment,
  random: Random,
  isWanted: (server: MisbehavingServer) => boolean = () => true,
): Promise<Running | undefined> {
  const order = random.shuffled(targets(environment).filter(isWanted));
  const search = (): Running | undefined => {
    for (const server of order) {
      const one = processesOf(environment, server);
      if (one.pids.length > 0) return one;
    }
    return undefined;
  };
  return waitForValue(search, { withinMs: patienceMs }).catch(() => undefined);
}

function processesOf(environment: SoakEnvironment, server: MisbehavingServer): Running {
  const http = overHttp(environment, server);
  if (http === undefined) return { server, http, pids: pidsOf(server) };
  return { server, http, pids: http.isRunning ? [http.pid] : [] };
}

function targets(environment: SoakEnvironment): readonly MisbehavingServer[] {
  return [...Object.values(environment.faultTargets), environment.alone.misbehaving];
}

function overHttp(environment: SoakEnvironment, server: MisbehavingServer): HttpServer | undefined {
  return Object.values(environment.overHttp).find((one) => one.server === server);
}

/** Returns every process of a server of this run, found by its command line. */
function pidsOf({ name }: MisbehavingServer): readonly number[] {
  const run = `--run=${testRun().id}`;
  return runningProcesses()
    .filter(({ commandLine }) => commandLine.includes(run) && commandLine.endsWith(`--name ${name}`))
    .map(({ pid }) => pid);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has exited in the meantime.
  }
}
