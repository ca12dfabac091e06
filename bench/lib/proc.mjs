// What the kernel knows of a process, read from outside; undefined where there is no /proc.

import { readFileSync, readdirSync } from 'node:fs';

/** User and system time of each thread, in microseconds. */
export function threadMicroseconds(pid) {
  // Nanoseconds, where `stat` counts in hundredths of a second.
  const threads = readdirSync(`/proc/${pid}/task`);
  const spent = (thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0];
  return new Map(threads.map((thread) => [thread, Number(spent(thread)) / 1000]));
}

/** Of all threads. */
export function cpuMicroseconds(pid) {
  try {
    return [...threadMicroseconds(pid).values()].reduce((sum, each) => sum + each, 0);
  } catch {
    return cpuFromStat(pid); // A kernel without scheduler statistics.
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

/** Processes that have `text` in their command line or, for what hides it, in their environment; without the asking one. */
export function processesWith(text) {
  return processIds()
    .map((pid) => ({ pid, command: commandOf(pid) }))
    .filter(({ pid, command }) => command.includes(text) || environmentOf(pid).includes(text));
}

/** Whether it runs; one that has ended and was not waited for does not. */
export function isRunning(pid) {
  const state = statFields(pid)?.[0];
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** Those that a process has started itself. */
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
    return ''; // It ended, or is somebody else's.
  }
}

function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/** Fields of `stat` from the state on; the name before it may hold anything. */
function statFields(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
