import { spawn } from 'node:child_process';
import { readdirSync, readSync } from 'node:fs';
import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { deferred } from '../../core/lib/deferred.ts';
import { readProcStat } from '../../core/lib/read-proc-stat.ts';
import type { ChildRecord } from './child-record.ts';
import { getPipeDescriptor } from './get-pipe-descriptor.ts';
import { InstallerKeeper } from './installer-keeper.ts';
import { StderrTail } from './stderr-tail.ts';
import type { Watchdog } from './watchdog.ts';

export interface ServerProcess {
  readonly pid: number;
  readonly stdin: ChildProcessWithoutNullStreams['stdin'];
  readonly stdout: ChildProcessWithoutNullStreams['stdout'];
  readonly stderr: StderrTail;
  /** Resolves with a description of the exit, such as `exited with code 1` or `was ended by SIGKILL`. */
  readonly exited: Promise<string>;
  readonly exit: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Resolves on exit, with true if the process certainly has not read all its input. */
  readonly hasUnreadInput: Promise<boolean>;
  /** Resolves when standard error has been read completely, which may be after the exit. */
  readonly stderrEnded: Promise<void>;
  /**
   * Closes the input, then sends SIGTERM, then SIGKILL, to the whole group; resolves when the group is gone. A process that may still
   * install packages gets no signal; it is left running, and `gone` resolves later.
   */
  end(): Promise<void>;
  /** Resolves when the group is gone. */
  readonly gone: Promise<void>;
  /** Ends the protection of an installer, because the process has answered or is inactive. */
  confirmInstalled(): void;
}

interface ServerProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly watchdog: Watchdog;
  readonly childRecord: ChildRecord;
  readonly onStderr: (chunk: Buffer) => void;
  /** Time that the process gets to exit after the end of its input; 0 for a program that gets no input. */
  readonly graceAfterEofMs?: number;
  /** Whether the process may install packages before it serves, and must not be killed meanwhile. */
  readonly isInstaller?: boolean;
}

const GRACE_AFTER_EOF_MS = 1000;
const GRACE_AFTER_TERM_MS = 1000;
const GRACE_AFTER_KILL_MS = 1000;
/** The time to read the remaining output after the process group is gone. */
const GRACE_FOR_PIPES_MS = 500;

/** Starts a server as the leader of a process group, so that a launcher such as `npx` cannot leave the actual server running. */
export function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
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
      // The id is always set here, because `spawn` is emitted only for a process that was started.
      if (child.pid !== undefined) resolve(superviseProcess(child, child.pid, options));
    });
  });
}

function superviseProcess(
  child: ChildProcessWithoutNullStreams,
  pid: number,
  options: ServerProcessOptions,
): ServerProcess {
  const { watchdog, childRecord: record, graceAfterEofMs: graceMs = GRACE_AFTER_EOF_MS } = options;
  const { stdin, stdout } = child;
  let keeper = options.isInstaller === true ? new InstallerKeeper(child, pid) : undefined;
  // Node closes `child.stdin` when the process exits. Without it, the pipe stays open for the check of `hasUnreadInput`.
  (child as ChildProcess).stdin = null;
  const guard = (): void => {
    watchdog.guard(pid);
    record.add(pid);
  };
  if (keeper === undefined) guard();
  const stderr = readStderr(child.stderr, options.onStderr);
  const exit: ServerProcess['exit'] = new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  // This must be the first listener of the exit, because the later ones close the pipe.
  const unread = exit.then(() => hasUnreadInput(stdin));
  const exited = exit.then(({ code, signal }) =>
    signal === null ? `exited with code ${code}` : `was ended by ${signal}`,
  );
  const gone = deferred<void>();
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => {
    if (ending !== undefined) return ending;
    const run = { child, pid, stdin, exited, graceMs };
    const onGone = (): void => gone.resolve();
    const ended = keeper ? leaveInstaller(run, keeper, onGone) : endGroup(run).then(onGone);
    ending = ended.then(() => {
      watchdog.release(pid);
      record.remove(pid);
    });
    return ending;
  };
  // If the leader exits by itself, the rest of its process group is ended as well.
  void exited.then(end);
  return {
    pid,
    stdin,
    stdout,
    stderr,
    exited,
    exit,
    hasUnreadInput: unread,
    stderrEnded: waitForClose(child.stderr),
    end,
    gone: gone.promise,
    confirmInstalled: () => {
      if (keeper === undefined || ending !== undefined) return;
      keeper.release();
      keeper = undefined;
      guard();
    },
  };
}

function readStderr(pipe: Readable, onStderr: ServerProcessOptions['onStderr']): StderrTail {
  const tail = new StderrTail();
  pipe.on('data', (chunk: Buffer) => {
    tail.push(chunk);
    onStderr(chunk);
  });
  pipe.on('error', () => {});
  return tail;
}

/**
 * Returns whether an exited process left some of its input unread. On Linux, the first read from our end of the pipe then fails with
 * ECONNRESET; there is never data to read from it. Other systems do not report this, so nothing counts as unread there.
 */
export function hasUnreadInput(stdin: Writable): boolean {
  // The last write failed because the pipe was closed.
  if (stdin.errored !== null) return true;
  const fd = getPipeDescriptor(stdin);
  if (process.platform !== 'linux' || fd === undefined) return false;
  try {
    readSync(fd, Buffer.alloc(1));
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNRESET';
  }
}

interface ProcessRun {
  readonly child: ChildProcessWithoutNullStreams;
  readonly pid: number;
  readonly stdin: Writable;
  readonly exited: Promise<string>;
  readonly graceMs: number;
}

async function endGroup({ child, pid, stdin, exited, graceMs }: ProcessRun): Promise<void> {
  if (hasNotExited(child)) {
    stdin.end();
    if (graceMs > 0) await settleWithin(exited, graceMs);
  }
  if (await isGone(pid, graceMs > 0 ? 50 : 0)) return release(child, stdin);
  signalGroup(pid, 'SIGTERM');
  if (await isGone(pid, GRACE_AFTER_TERM_MS)) return release(child, stdin);
  signalGroup(pid, 'SIGKILL');
  await isGone(pid, GRACE_AFTER_KILL_MS);
  return release(child, stdin);
}

/**
 * Closes the input of a process that may be installing packages, and leaves it running if it does not exit soon: killing it would damage
 * the user's package cache, and waiting for it would delay a shutdown by minutes. `onGone` is called when the group is gone, if the
 * gateway still runs then.
 */
async function leaveInstaller(run: ProcessRun, keeper: InstallerKeeper, onGone: () => void): Promise<void> {
  const { child, stdin, exited, graceMs } = run;
  if (hasNotExited(child)) {
    stdin.end();
    await settleWithin(exited, graceMs);
  }
  if (!hasNotExited(child)) {
    keeper.release();
    return endGroup(run).then(onGone);
  }
  stdin.destroy();
  void keeper.leave().then(onGone);
}

function hasNotExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

/** Reads the remaining output and closes the pipes, even if a detached grandchild still holds them. */
async function release(child: ChildProcessWithoutNullStreams, stdin: Writable): Promise<void> {
  stdin.destroy();
  await settleWithin(
    Promise.all([waitForClose(child.stdout), waitForClose(child.stderr)]),
    GRACE_FOR_PIPES_MS,
  );
  child.stdout.destroy();
  child.stderr.destroy();
}

function waitForClose(stream: Readable): Promise<void> {
  if (stream.closed) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once('close', resolve);
  });
}

/** Polls until the process group is gone; returns false if it still exists after `withinMs`. */
async function isGone(pid: number, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    if (!signalGroup(pid, 0) || !isAlive(pid)) return true;
    if (performance.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/**
 * Returns whether any process of the group still runs. An exited process stays in the group until its parent reaps it. In many
 * containers, process 1 inherits the children of a launcher and never reaps them.
 */
function isAlive(group: number): boolean {
  if (process.platform !== 'linux') return true;
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false;
    const stat = readProcStat(Number(name));
    // Z and X are exited processes.
    return stat?.processGroup === group && stat.state !== 'Z' && stat.state !== 'X';
  });
}

/** Sends a signal to a process group; returns false if it has no process. Signal 0 only checks that. */
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
    return false; // The group is empty.
  }
}

function settleWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
