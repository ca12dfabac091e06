import { readProcStat } from './read-proc-stat.ts';

/**
 * Whether a process runs. A zombie does not: it has exited, and its parent has not noticed yet, which lasts for ever in containers whose
 * first process reaps none. A process that cannot be checked, because it belongs to another user, counts as running.
 */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
  }
  return readProcStat(pid)?.state !== 'Z';
}
