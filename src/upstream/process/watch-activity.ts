import { readdirSync, readFileSync } from 'node:fs';
import { readProcStat } from '../../core/lib/read-proc-stat.ts';

/** A process group that uses at least this CPU time between two readings is active. The timers of an idle process may use a single tick. */
const MIN_CPU_TICKS = 2;
/** A process group that reads or writes at least this number of bytes between two readings, on disk or network, is active. */
const MIN_BYTES = 1000;

export interface Activity extends Disposable {
  /** The time since the last activity, or since the start of the watch. */
  readonly idleMs: number;
}

interface GroupUsage {
  readonly pids: string;
  readonly cpuTicks: number;
  readonly bytes: number;
}

/**
 * Calls `onActivity` at every reading if, since the reading before, a process group has used the CPU, the disk or the network, or has started
 * or ended processes.
 * Only Linux reports this; on other systems, the group counts as active for as long as it is watched.
 */
export function watchActivity(
  group: number,
  options: {
    readonly everyMs: number;
    readonly platform: NodeJS.Platform;
    readonly onActivity: () => void;
  },
): Activity {
  const { everyMs, platform, onActivity } = options;
  let activeAt = performance.now();
  let before = platform === 'linux' ? readUsage(group) : undefined;
  const timer = setInterval(() => {
    const now = platform === 'linux' ? readUsage(group) : undefined;
    if (before === undefined || now === undefined || isActive(before, now)) {
      activeAt = performance.now();
      onActivity();
    }
    before = now;
  }, everyMs);
  return {
    get idleMs() {
      return performance.now() - activeAt;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function isActive(before: GroupUsage, now: GroupUsage): boolean {
  return (
    now.pids !== before.pids ||
    now.cpuTicks - before.cpuTicks >= MIN_CPU_TICKS ||
    now.bytes - before.bytes >= MIN_BYTES
  );
}

function readUsage(group: number): GroupUsage {
  const members = readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? readProcStat(Number(name)) : undefined;
    return stat?.processGroup === group ? [{ name, cpuTicks: stat.cpuTicks, bytes: readBytes(name) }] : [];
  });
  return {
    pids: members.map(({ name }) => name).join(' '),
    cpuTicks: members.reduce((sum, { cpuTicks }) => sum + cpuTicks, 0),
    bytes: members.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Returns the number of bytes that a process has read and written; 0 if it has ended or changed its user. */
function readBytes(pid: string): number {
  try {
    const io = readFileSync(`/proc/${pid}/io`, 'latin1');
    return Number(/^rchar: (\d+)/m.exec(io)?.[1] ?? 0) + Number(/^wchar: (\d+)/m.exec(io)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
