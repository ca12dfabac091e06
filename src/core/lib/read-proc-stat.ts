import { readFileSync } from 'node:fs';

/** The fields of /proc/PID/stat that we use. */
interface ProcStat {
  /** `Z` for a zombie. */
  readonly state: string;
  readonly processGroup: number;
  /** The CPU time in clock ticks. */
  readonly cpuTicks: number;
  /** In clock ticks since the boot; with the process id, it identifies a process. */
  readonly startTime: string;
}

/** Reads /proc/PID/stat; returns undefined if the process does not exist, or where there is no /proc. */
export function readProcStat(pid: number): ProcStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The text after the name in parentheses starts with field 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', , processGroup] = fields;
    const cpuTicks = Number(fields[11]) + Number(fields[12]);
    return { state, processGroup: Number(processGroup), cpuTicks, startTime: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
