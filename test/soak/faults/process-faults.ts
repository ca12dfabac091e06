import { setTimeout as sleep } from 'node:timers/promises';

import { runningProcesses } from '../../support/processes.ts';
import type { HttpServer } from '../stage/http-server.ts';
import type { Mood, MoodyServer } from '../stage/moody-server.ts';
import type { Stage } from '../stage/stage.ts';
import type { Fault } from './fault.ts';

/** A server is killed, as by the kernel when memory is short. */
export const kill: Fault = async ({ stage }, { luck, lastsMs }) => {
  const server = luck.pick(targets(stage));
  const http = overHttp(stage, server);
  if (http !== undefined) await http.killed(lastsMs);
  else for (const pid of pidsOf(server)) signal(pid, 'SIGKILL');
  return server.name;
};

/** A server stands still, and goes on where it was. */
export const hang: Fault = async ({ stage }, { luck, lastsMs }) => {
  const server = luck.pick(targets(stage));
  const http = overHttp(stage, server);
  const pids = http === undefined ? pidsOf(server) : [http.pid];
  for (const pid of pids) signal(pid, 'SIGSTOP');
  await sleep(lastsMs);
  for (const pid of pids) signal(pid, 'SIGCONT');
  return server.name;
};

/** A server behaves badly for a while. */
export function inMood(mood: Mood): Fault {
  return async ({ stage }, { luck, lastsMs }) => {
    const server = luck.pick(targets(stage));
    server.mood(mood);
    await sleep(lastsMs);
    server.mood('fine');
    return server.name;
  };
}

/** A server has another tool, or lacks one that it had, and says so. */
export const listChange: Fault = async ({ stage }, { luck }) => {
  const server = luck.pick(targets(stage).filter(({ name }) => name !== 'launched'));
  const http = overHttp(stage, server);
  for (const pid of http === undefined ? pidsOf(server) : [http.pid]) signal(pid, 'SIGUSR2');
  return server.name;
};

function targets(stage: Stage): readonly MoodyServer[] {
  return [...Object.values(stage.moody), stage.alone.moody];
}

function overHttp(stage: Stage, server: MoodyServer): HttpServer | undefined {
  return Object.values(stage.overHttp).find((one) => one.server === server);
}

/** Every process of a server, found by its command line. */
function pidsOf({ name }: MoodyServer): readonly number[] {
  return runningProcesses()
    .filter(({ commandLine }) => commandLine.endsWith(`--name ${name}`))
    .map(({ pid }) => pid);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Best effort: it ended meanwhile.
  }
}
