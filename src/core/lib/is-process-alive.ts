import { readProcStat } from './read-proc-stat.ts';

/**
 * Whether a process is running. A zombie is not: it has exited, but its parent has not reaped it. In a container whose first process does
 * not reap children, zombies stay forever. A process that cannot be checked, because it belongs to another user, counts as running.
 */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
  }
  return readProcStat(pid)?.state !== 'Z';
}
