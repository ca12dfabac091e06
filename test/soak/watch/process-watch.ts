import { readFileSync, readdirSync } from 'node:fs';

import { testRun } from '../../support/test-run.ts';
import { type RequestTracker, count } from '../request-tracker.ts';
import { scaleDeadline } from '../../support/scale-deadline.ts';

/** Time for a process to exit or be reaped: ending an unresponsive server takes three steps of a second each. */
const usualGraceMs = 8000;
const lookEveryMs = 1000;

interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  readonly commandLine: string;
}

/** Reports orphaned processes and zombies. */
export class ProcessWatch implements Disposable {
  readonly #tracker: RequestTracker;
  readonly #graceMs: number;
  readonly #since = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(tracker: RequestTracker, { graceMs = usualGraceMs } = {}) {
    this.#tracker = tracker;
    this.#graceMs = graceMs;
    this.#timer = setInterval(() => this.#look(), Math.min(lookEveryMs, graceMs));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const all = processes();
    const ours = new Set(descendantsOf(process.pid, all).map(({ pid }) => pid));
    const odd = all.flatMap(({ pid, parent, state, commandLine }) => {
      // Background gateways are not our children; their own children are found through them.
      if (isServer({ commandLine }) && !ours.has(pid) && !hasGateway(pid, all))
        return [`orphan ${pid}: ${commandLine.slice(-120)}`];
      const isOfGateway = ours.has(parent) || isGateway(all.find((one) => one.pid === parent));
      return state === 'Z' && parent !== process.pid && isOfGateway ? [`zombie ${pid} of ${parent}`] : [];
    });
    const now = performance.now();
    for (const known of this.#since.keys()) if (!odd.includes(known)) this.#since.delete(known);
    for (const one of odd) {
      const since = this.#since.get(one) ?? now;
      this.#since.set(one, since);
      if (now - since < scaleDeadline(this.#graceMs, 'soak')) continue;
      this.#since.set(one, Number.POSITIVE_INFINITY); // Reported once.
      this.#tracker.violate(`left for more than ${this.#graceMs} ms: ${one}`);
    }
  }
}

/** Returns every server among the descendants of a process. */
export function serversOf(pid: number): readonly number[] {
  return descendantsOf(pid, processes())
    .filter(isServer)
    .map((one) => one.pid);
}

/** Returns the number of running server processes that a gateway has started, by name, without their own children. */
export function startedBy(pid: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const one of processes()) {
    const name = one.parent === pid && isServer(one) ? /--name (\S+)$/.exec(one.commandLine)?.[1] : undefined;
    if (name !== undefined) count(counts, name);
  }
  return counts;
}

/** Returns all processes of this run except our own. */
export function findRemainingProcesses(): readonly string[] {
  return ofThisRun().map(({ pid, commandLine }) => `${pid}: ${commandLine.slice(0, 200)}`);
}

/** Kills the processes that a failed run has left. */
export function killRemainingProcesses(): void {
  for (const { pid } of ofThisRun()) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has exited in the meantime.
    }
  }
}

function ofThisRun(): readonly Seen[] {
  const { id, folder } = testRun();
  return processes().filter(
    ({ commandLine }) => commandLine.includes(`--run=${id}`) || commandLine.includes(folder),
  );
}

function isServer({ commandLine }: Pick<Seen, 'commandLine'>): boolean {
  return commandLine.includes(`--run=${testRun().id}`);
}

function hasGateway(pid: number, all: readonly Seen[]): boolean {
  for (let at = all.find((one) => one.pid === pid); at !== undefined;) {
    if (isGateway(at)) return true;
    const { parent } = at;
    at = all.find((one) => one.pid === parent);
  }
  return false;
}

function isGateway(one: Seen | undefined): boolean {
  return one !== undefined && one.commandLine.includes(testRun().folder) && /\bserve\b/.test(one.commandLine);
}

function descendantsOf(pid: number, all: readonly Seen[]): readonly Seen[] {
  const direct = all.filter(({ parent }) => parent === pid);
  return direct.flatMap((one) => [one, ...descendantsOf(one.pid, all)]);
}

function processes(): readonly Seen[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
        const [state = '', parent = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const commandLine = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        return [{ pid: Number(name), parent: Number(parent), state, commandLine }];
      } catch {
        return []; // The process has exited in the meantime.
      }
    });
}
