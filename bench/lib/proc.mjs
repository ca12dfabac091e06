// Reads information about processes from /proc; undefined where there is none.

import { readFileSync, readdirSync } from 'node:fs';

/** User and system time of each thread, in microseconds. */
export function threadMicroseconds(pid) {
  // In nanoseconds, while `stat` counts hundredths of a second.
  const threads = readdirSync(`/proc/${pid}/task`);
  const spent = (thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0];
  return new Map(threads.map((thread) => [thread, Number(spent(thread)) / 1000]));
}

/** The CPU time of all threads, in microseconds. */
export function cpuMicroseconds(pid) {
  try {
    return [...threadMicroseconds(pid).values()].reduce((sum, each) => sum + each, 0);
  } catch {
    return cpuFromStat(pid); // The kernel has no scheduler statistics.
  }
}

function cpuFromStat(pid) {
  const fields = statFields(pid);
  return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** Resident and proportional memory in MB. */
export function memory(pid) {
  return {
    rss: kilobytes(`/proc/${pid}/status`, /^VmRSS:\s+(\d+)/m),
    pss: kilobytes(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+)/m),
  };
}

function kilobytes(file, pattern) {
  try {
    const found = pattern.exec(readFileSync(file, 'latin1'))?.[1];
    return found === undefined ? undefined : Number(found) / 1024;
  } catch {
    return undefined;
  }
}

/** Processes with `text` in their command line or, for those that hide it, in their environment; without this process. */
export function processesWith(text) {
  return processIds()
    .map((pid) => ({ pid, command: commandOf(pid) }))
    .filter(({ pid, command }) => command.includes(text) || environmentOf(pid).includes(text));
}

/** Whether a process runs; a zombie does not. */
export function isRunning(pid) {
  const state = statFields(pid)?.[0];
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** The child processes of a process. */
export function childrenOf(pid) {
  return processIds().filter((each) => Number(statFields(each)?.[1]) === pid);
}

function processIds() {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => pid !== process.pid && isRunning(pid));
  } catch {
    return []; // There is no /proc.
  }
}

function environmentOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return ''; // The process has ended, or belongs to another user.
  }
}

function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/** Fields of `stat` from the state on; the name before it may contain any character. */
function statFields(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
