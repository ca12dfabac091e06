import { readFileSync, readdirSync } from 'node:fs';

import { testRun } from '../../support/test-run.ts';
import { type Ledger, count } from '../ledger.ts';
import { patient } from '../patient.ts';

/** What ends or is reaped is given this long: three graces of a second each for a server that does not want to end. */
const usualGraceMs = 8000;
const lookEveryMs = 1000;

interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  readonly commandLine: string;
}

/** Looks for processes that nobody owns any more and for dead ones that nobody has reaped. */
export class ProcessWatch implements Disposable {
  readonly #ledger: Ledger;
  readonly #graceMs: number;
  readonly #since = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(ledger: Ledger, { graceMs = usualGraceMs } = {}) {
    this.#ledger = ledger;
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
      // Gateways in the background are nobody's children; their own are found from them.
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
      if (now - since < patient(this.#graceMs)) continue;
      this.#since.set(one, Number.POSITIVE_INFINITY); // Said once.
      this.#ledger.violate(`left for more than ${this.#graceMs} ms: ${one}`);
    }
  }
}

/** Every server that hangs below a process, at whatever depth. */
export function serversOf(pid: number): readonly number[] {
  return descendantsOf(pid, processes())
    .filter(isServer)
    .map((one) => one.pid);
}

/** By name, how many processes of servers a gateway has started and not ended; what these started in turn does not count. */
export function startedBy(pid: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const one of processes()) {
    const name = one.parent === pid && isServer(one) ? /--name (\S+)$/.exec(one.commandLine)?.[1] : undefined;
    if (name !== undefined) count(counts, name);
  }
  return counts;
}

/** What of this run is there at all, besides ourselves. */
export function processesLeft(): readonly string[] {
  return ofThisRun().map(({ pid, commandLine }) => `${pid}: ${commandLine.slice(0, 200)}`);
}

/** Ends whatever a run that could not go on has left. */
export function endWhatIsLeft(): void {
  for (const { pid } of ofThisRun()) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Best effort: it ended meanwhile.
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
        return []; // It ended meanwhile.
      }
    });
}
