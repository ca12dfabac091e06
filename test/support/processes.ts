import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  readonly commandLine: string;
  /** `NAME=value` pairs joined by NUL; empty if the system does not provide it. */
  readonly environment: string;
}

/** Returns the running processes, without zombies. */
export function runningProcesses(): readonly RunningProcess[] {
  if (process.platform === 'linux') return fromProc();
  // Windows has no cheap way to list processes with their command lines, so the leak check finds none there.
  return process.platform === 'win32' ? [] : fromPs();
}

/** Whether a process runs; a zombie does not. */
export function isRunning(pid: number): boolean {
  return runningProcesses().some((one) => one.pid === pid);
}

function fromProc(): RunningProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .flatMap((pid) => readProcess(pid) ?? []);
}

function readProcess(pid: number): RunningProcess | undefined {
  const commandLine = readProc(pid, 'cmdline').replaceAll('\0', ' ').trim();
  // Kernel threads and zombies have no command line.
  if (commandLine === '') return undefined;
  const parent = Number(/^PPid:\s*(\d+)/m.exec(readProc(pid, 'status'))?.[1] ?? 0);
  return { pid, parent, commandLine, environment: readProc(pid, 'environ') };
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // Best effort: the process has exited or belongs to another user.
    return '';
  }
}

function fromPs(): RunningProcess[] {
  const lines = execFileSync('ps', ['-Ao', 'pid=,ppid=,state=,command='], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    const [, pid, parent, state, commandLine] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || commandLine === undefined || state?.startsWith('Z') === true) return [];
    return [{ pid: Number(pid), parent: Number(parent), commandLine, environment: '' }];
  });
}
