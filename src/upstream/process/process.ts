import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { ChildRecord } from './orphans.ts';
import { StderrTail } from './stderr-tail.ts';
import { hasUnread } from './unread-input.ts';
import type { Watchdog } from './watchdog.ts';

export interface ServerProcess {
  readonly pid: number;
  readonly stdin: ChildProcessWithoutNullStreams['stdin'];
  readonly stdout: ChildProcessWithoutNullStreams['stdout'];
  readonly stderr: StderrTail;
  /** How it ended, as a sentence part: `exited with code 1`, `was ended by SIGKILL`. */
  readonly exited: Promise<string>;
  /** The same for programs. */
  readonly exit: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Resolves with its end: whether it has certainly not read all that it was sent. */
  readonly inputLeft: Promise<boolean>;
  /** Resolves when all it wrote to standard error was read, which may be after its exit. */
  readonly stderrEnded: Promise<void>;
  /** End of input, then SIGTERM, then SIGKILL, to the whole group; resolves when nothing is left. */
  end(): Promise<void>;
}

const GRACE_AFTER_EOF_MS = 1000;
const GRACE_AFTER_TERM_MS = 1000;
const GRACE_AFTER_KILL_MS = 1000;
const GRACE_FOR_PIPES_MS = 500;

/** Starts a server as leader of a process group, so that a launcher in between cannot leave the real server behind. */
export function startProcess(options: {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly watchdog: Watchdog;
  readonly record: ChildRecord;
  readonly onStderr: (chunk: Buffer) => void;
  /** How long the end of its input may take to end it; a program that gets none is not given any time. */
  readonly graceAfterEofMs?: number;
}): Promise<ServerProcess> {
  const { watchdog, record } = options;
  return new Promise<ServerProcess>((resolve, reject) => {
    const child = spawn(options.command, options.args, {
      env: options.env,
      cwd: options.cwd,
      stdio: 'pipe',
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    child.once('error', reject);
    child.once('spawn', () => {
      const { pid, stdin } = child;
      if (pid === undefined) return; // Cannot be: `spawn` is only emitted for a process with an id.
      // Else Node closes it when the process ends, and nobody can ask any more whether all of it was read.
      (child as ChildProcess).stdin = null;
      watchdog.guard(pid);
      record.add(pid);
      const stderr = new StderrTail();
      child.stderr.on('data', (chunk: Buffer) => {
        stderr.push(chunk);
        options.onStderr(chunk);
      });
      child.stderr.on('error', () => {});
      const exit = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((tell) => {
        child.once('exit', (code, signal) => tell({ code, signal }));
      });
      // Before anything else that follows from its end, since that closes the pipe.
      const inputLeft = exit.then(() => hasUnread(stdin));
      const exited = exit.then(({ code, signal }) =>
        signal === null ? `exited with code ${code}` : `was ended by ${signal}`,
      );
      const graceMs = options.graceAfterEofMs ?? GRACE_AFTER_EOF_MS;
      let ending: Promise<void> | undefined;
      const end = (): Promise<void> => {
        ending ??= endGroup(child, pid, { stdin, exited, graceMs }).then(() => {
          watchdog.release(pid);
          record.remove(pid);
        });
        return ending;
      };
      // The leader is gone on its own account; what it started must not stay.
      void exited.then(end);
      const stderrEnded = closed(child.stderr);
      resolve({ pid, stdin, stdout: child.stdout, stderr, exited, exit, inputLeft, stderrEnded, end });
    });
  });
}

async function endGroup(
  child: ChildProcessWithoutNullStreams,
  pid: number,
  options: { readonly stdin: Writable; readonly exited: Promise<string>; readonly graceMs: number },
): Promise<void> {
  const { stdin, exited, graceMs } = options;
  if (child.exitCode === null && child.signalCode === null) {
    stdin.end();
    if (graceMs > 0) await within(exited, graceMs);
  }
  if (await isGone(pid, graceMs > 0 ? 50 : 0)) return release(child, stdin);
  signalGroup(pid, 'SIGTERM');
  if (await isGone(pid, GRACE_AFTER_TERM_MS)) return release(child, stdin);
  signalGroup(pid, 'SIGKILL');
  await isGone(pid, GRACE_AFTER_KILL_MS);
  return release(child, stdin);
}

/** What it wrote before its end is read; pipes that a stray grandchild in another session still holds are not waited for. */
async function release(child: ChildProcessWithoutNullStreams, stdin: Writable): Promise<void> {
  stdin.destroy();
  await within(Promise.all([closed(child.stdout), closed(child.stderr)]), GRACE_FOR_PIPES_MS);
  child.stdout.destroy();
  child.stderr.destroy();
}

function closed(stream: Readable): Promise<void> {
  if (stream.closed) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once('close', resolve);
  });
}

async function isGone(pid: number, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    if (!signalGroup(pid, 0) || !isAlive(pid)) return true;
    if (performance.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/**
 * Whether anything in the group still runs. What has exited stays in it until its parent has looked, and the process
 * with number 1, which inherits it from a launcher, never looks in many containers.
 */
function isAlive(group: number): boolean {
  if (process.platform !== 'linux') return true;
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3);
      return Number(pgrp) === group && state !== 'Z' && state !== 'X';
    } catch {
      return false; // It is gone meanwhile.
    }
  });
}

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    if (process.platform === 'win32') {
      process.kill(pid, 0);
      if (signal !== 0)
        spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true });
      return true;
    }
    return process.kill(-pid, signal);
  } catch {
    return false; // Nobody is left in the group.
  }
}

function within(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
