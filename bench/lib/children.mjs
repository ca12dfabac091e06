import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { processesWith } from './proc.mjs';

const GRACE_MS = 8000;

/** Owns every process and folder of a run and removes all of them in `close`. */
export function ownChildren() {
  const running = new Set();
  const root = mkdtempSync(join(tmpdir(), 'trunkline-bench-'));
  let folders = 0;
  let isClosed = false;

  const removeFolders = () => rmSync(root, { recursive: true, force: true, maxRetries: 3 });

  /**
   * Starts a process with pipes: Node, unless `command` names another program. Its standard error is kept for messages. `detached` gives it
   * its own session.
   */
  const start = (args, { command = process.execPath, env = process.env, cwd, detached = false } = {}) => {
    if (isClosed) throw new Error('the run is over');
    const child = spawn(command, args, { env, cwd, detached, stdio: ['pipe', 'pipe', 'pipe'] });
    const started = { child, pid: child.pid, stderr: '', exited: once(child, 'exit').catch(() => {}) };
    child.stderr
      .setEncoding('utf8')
      .on('data', (text) => (started.stderr = (started.stderr + text).slice(-8000)));
    child.stdin.on('error', () => {}); // `exited` reports the end of the process.
    running.add(started);
    for (const event of ['exit', 'error']) child.on(event, () => running.delete(started));
    return started;
  };

  const gone = async ({ child, exited }) => {
    if (child.exitCode === null && child.signalCode === null) await exited;
  };

  /** Closes its input, then sends SIGTERM, then SIGKILL. */
  const end = async (started) => {
    const { child } = started;
    child.stdin.end();
    child.kill('SIGTERM');
    const insist = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
    await gone(started);
    clearTimeout(insist);
  };

  /** Ends everything that was started, and then every process of this run that others left running. */
  const endAll = async () => {
    await Promise.all([...running].map((started) => end(started)));
    killLeft(root);
  };

  return {
    newFolder() {
      // All names have the same length: no path is a prefix of another, so the processes of each folder can be distinguished.
      const folder = join(root, String(++folders).padStart(5, '0'));
      mkdirSync(folder);
      return folder;
    },
    start,
    end,
    gone,
    endAll,
    killLeft,
    get isClosed() {
      return isClosed;
    },
    /** Ends everything for good. */
    async close() {
      isClosed = true;
      await endAll();
      removeFolders();
    },
    /** For the `exit` event, in which nothing can be awaited. */
    killAll() {
      for (const { child } of running) child.kill('SIGKILL');
      killLeft(root);
      removeFolders();
    },
  };
}

/** Every process of a run has one of its folders in its command line or environment. */
function killLeft(folder) {
  for (const { pid } of processesWith(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }
}
