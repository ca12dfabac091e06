import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { build } from 'rolldown';
import { afterAll, describe, expect, test } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { isRunning } from '../../../test/support/processes.ts';
import { Watchdog } from './watchdog.ts';

const started: ChildProcess[] = [];
afterAll(() => {
  for (const { pid } of started.splice(0)) killGroup(pid);
});

/** Starts the leader of a process group that only a signal ends. */
function sleeper(): number {
  const child = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
  started.push(child);
  return child.pid!;
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has exited, as expected.
  }
}

describe.skipIf(process.platform === 'win32')('Watchdog', () => {
  test.concurrent('watchdog: kills all guarded servers when the gateway is killed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trunkline-watchdog-'));
    const file = join(folder, 'gateway.mjs');
    const source = join(folder, 'gateway.ts');
    await writeFile(source, gateway);
    await build({
      input: source,
      platform: 'node',
      transform: { target: 'node20' },
      output: { file },
      logLevel: 'silent',
    });
    const child = spawn(process.execPath, [file, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    started.push(child);
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    const pids = await eventually(() =>
      output.endsWith('\n') ? output.trim().split(' ').map(Number) : false,
    );
    expect(pids).toHaveLength(3);
    expect(pids.every((pid) => isRunning(pid))).toBe(true);
    child.kill('SIGKILL');
    await eventually(() => pids.every((pid) => !isRunning(pid)), {
      withinMs: 4000,
      what: 'the end of every server',
    });
    await rm(folder, { recursive: true });
  });

  test.concurrent('watchdog: kills the remaining servers on close, not released ones', async () => {
    const watchdog = new Watchdog({ platform: process.platform });
    const [left, released, last] = [sleeper(), sleeper(), sleeper()];
    for (const pid of [left, released, last]) watchdog.guard(pid);
    watchdog.release(released);
    await watchdog[Symbol.asyncDispose]();
    expect(isRunning(left)).toBe(false);
    expect(isRunning(last)).toBe(false);
    expect(isRunning(released)).toBe(true);
  });

  test.concurrent('watchdog: leaves a released process alone when it exits', async () => {
    const watchdog = new Watchdog({ platform: process.platform });
    const pid = sleeper();
    watchdog.guard(pid);
    watchdog.release(pid);
    await watchdog[Symbol.asyncDispose]();
    await watchdog[Symbol.asyncDispose]();
    expect(isRunning(pid)).toBe(true);
  });
});

test('watchdog: does nothing on Windows', async () => {
  const watchdog = new Watchdog({ platform: 'win32' });
  watchdog.guard(1);
  watchdog.release(1);
  await expect(watchdog[Symbol.asyncDispose]()).resolves.toBeUndefined();
});

/** Starts a server that exits at the end of its input, a launcher, and a server that ignores everything, and prints their ids. */
const gateway = `
import { startServerProcess } from '${import.meta.dirname}/server-process.ts';
import { ChildRecord } from '${import.meta.dirname}/child-record.ts';
import { Watchdog } from '${import.meta.dirname}/watchdog.ts';
const common = {
  command: '/bin/sh',
  env: { PATH: process.env.PATH },
  cwd: undefined,
  watchdog: new Watchdog({ platform: process.platform }),
  childRecord: new ChildRecord(process.argv[2], process.pid),
  onStderr: () => {},
};
const scripts = ['cat', 'sleep 300 & wait', 'trap "" TERM; sleep 300'];
const servers = await Promise.all(scripts.map((script) => startServerProcess({ ...common, args: ['-c', script] })));
console.log(servers.map(({ pid }) => pid).join(' '));
setInterval(() => {}, 1000);
`;
