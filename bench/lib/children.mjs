import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { processesWith } from './proc.mjs';

const GRACE_MS = 8000;

/** Owns every process and folder of a run, so that one call leaves nothing behind. */
export function ownChildren() {
  const running = new Set();
  const root = mkdtempSync(join(tmpdir(), 'trunkline-bench-'));
  let folders = 0;
  let isClosed = false;

  const removeFolders = () => rmSync(root, { recursive: true, force: true, maxRetries: 3 });

  /**
   * A process with pipes, of node unless `command` says another; its standard error is kept for messages. `detached`
   * gives it a session of its own.
   */
  const start = (args, { command = process.execPath, env = process.env, cwd, detached = false } = {}) => {
    if (isClosed) throw new Error('the run is over');
    const child = spawn(command, args, { env, cwd, detached, stdio: ['pipe', 'pipe', 'pipe'] });
    const started = { child, pid: child.pid, stderr: '', exited: once(child, 'exit').catch(() => {}) };
    child.stderr
      .setEncoding('utf8')
      .on('data', (text) => (started.stderr = (started.stderr + text).slice(-8000)));
    child.stdin.on('error', () => {}); // Its death is heard of through `exited`.
    running.add(started);
    for (const event of ['exit', 'error']) child.on(event, () => running.delete(started));
    return started;
  };

  const gone = async ({ child, exited }) => {
    if (child.exitCode === null && child.signalCode === null) await exited;
  };

  /** Ends its input, asks, and at last insists. */
  const end = async (started) => {
    const { child } = started;
    child.stdin.end();
    child.kill('SIGTERM');
    const insist = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
    await gone(started);
    clearTimeout(insist);
  };

  /** Everything that was started, and then everything of this run that somebody else left running. */
  const endAll = async () => {
    await Promise.all([...running].map((started) => end(started)));
    killLeft(root);
  };

  return {
    newFolder() {
      // All of one length: no folder is the beginning of another, so that the processes of each can be told apart.
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
    /** For the last moment of the process, when nothing can be waited for. */
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
      // It ended by itself.
    }
  }
}
