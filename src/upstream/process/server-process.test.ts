import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { isRunning } from '../../../test/support/processes.ts';
import { ChildRecord } from './child-record.ts';
import { hasUnreadInput, startServerProcess } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';
import { Watchdog } from './watchdog.ts';

let folder: string;
let watchdog: Watchdog;
let record: ChildRecord;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-process-'));
  watchdog = new Watchdog({ platform: process.platform });
  record = new ChildRecord(folder, process.pid);
});
afterAll(async () => {
  await watchdog[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** A server that a shell plays, with everything that it has said so far. */
class Server {
  readonly process: ServerProcess;
  output = '';

  private constructor(started: ServerProcess) {
    this.process = started;
    started.stdout.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    started.stdin.on('error', () => {});
  }

  static async run(script: string, { isInstaller = false } = {}): Promise<Server> {
    return new Server(await start('/bin/sh', ['-c', script], undefined, isInstaller));
  }

  /** The number that the script prints for one of its children. */
  async childPid(): Promise<number> {
    return eventually(() => (this.output.endsWith('\n') ? Number(this.output) : false));
  }
}

function start(
  command: string,
  args: readonly string[],
  cwd?: string,
  isInstaller = false,
): Promise<ServerProcess> {
  const env = { PATH: process.env['PATH'] ?? '' };
  const common = { env, cwd, watchdog, childRecord: record, onStderr: () => {} };
  return startServerProcess({ command, args, isInstaller, ...common });
}

describe.skipIf(process.platform === 'win32')('server process', () => {
  test.concurrent('server process: talks over its pipes and exits when stdin closes', async () => {
    const server = await Server.run('cat');
    server.process.stdin.write('hello\n');
    await eventually(() => server.output === 'hello\n');
    await server.process.end();
    expect(await server.process.exited).toBe('exited with code 0');
    expect(isRunning(server.process.pid)).toBe(false);
  });

  test.concurrent('server process: ends the child of a launcher too', async () => {
    const server = await Server.run('sleep 300 & echo $!; wait');
    const real = await server.childPid();
    expect(isRunning(real)).toBe(true);
    await server.process.end();
    expect(isRunning(real)).toBe(false);
    expect(isRunning(server.process.pid)).toBe(false);
  });

  test.concurrent('server process: is killed when it ignores the end of stdin and SIGTERM', async () => {
    const server = await Server.run('trap "" TERM; echo 1; while :; do sleep 300; done');
    await server.childPid();
    await server.process.end();
    expect(await server.process.exited).toBe('was ended by SIGKILL');
    expect(isRunning(server.process.pid)).toBe(false);
  });

  test.concurrent('server process: ends its children when it exits by itself', async () => {
    const server = await Server.run('sleep 300 & echo $!; exit 3');
    expect(await server.process.exited).toBe('exited with code 3');
    const real = await server.childPid();
    await eventually(() => !isRunning(real));
    await server.process.end();
    expect(server.process.stdout.destroyed).toBe(true);
  });

  test.concurrent('server process: does not wait for a detached child that holds the pipes', async () => {
    const server = await Server.run('setsid sleep 300 & echo $!; cat');
    const stray = await server.childPid();
    await server.process.end();
    expect(server.process.stdout.destroyed).toBe(true);
    process.kill(stray);
  });

  test.runIf(process.platform === 'linux')(
    'server process: delivers all output when it exits at once',
    async () => {
      const servers = await Promise.all(
        Array.from({ length: 8 }, () => Server.run('echo answer; echo why >&2; exit 1')),
      );
      for (const server of servers) blockUntilExit(server.process.pid);
      for (const server of servers) {
        await server.process.exited;
        await server.process.end();
        expect(server.output).toBe('answer\n');
        expect(server.process.stderr.lines).toEqual(['why']);
      }
    },
  );

  test.concurrent('server process: reports the signal that ended it', async () => {
    const server = await Server.run('kill -9 $$');
    expect(await server.process.exited).toBe('was ended by SIGKILL');
  });

  test.concurrent('server process: ends once and returns the same promise to all callers', async () => {
    const server = await Server.run('cat');
    expect(server.process.end()).toBe(server.process.end());
    await server.process.end();
  });

  test.concurrent("server process: gets its own environment, nothing of the gateway's", async () => {
    const server = await Server.run('env; exit 0');
    await server.process.exited;
    await server.process.end();
    expect(server.output).not.toContain('HOME=');
    expect(server.output).toContain('PATH=');
  });
});

describe.skipIf(process.platform === 'win32')('installer', () => {
  /** Writes more than a pipe holds to both outputs until the file exists, then serves like `cat`. */
  const installer = (name: string): string =>
    `trap 'echo killed >${join(folder, name)}.killed' TERM
    until [ -e ${join(folder, name)} ]; do echo output; head -c 100000 /dev/zero | tee /dev/stderr; sleep 0.05; done
    echo installed >${join(folder, name)}.done
    exec cat`;

  test.concurrent('installer: is left running and finishes after the end of its server', async () => {
    const server = await Server.run(installer('left'), { isInstaller: true });
    await eventually(() => server.output.includes('output'));
    await server.process.end();
    expect(isRunning(server.process.pid)).toBe(true);
    let isGone = false;
    void server.process.gone.then(() => (isGone = true));
    writeFileSync(join(folder, 'left'), '');
    await eventually(() => existsSync(join(folder, 'left.done')), { withinMs: 4000 });
    await eventually(() => isGone, { withinMs: 4000 });
    expect(isRunning(server.process.pid)).toBe(false);
    expect(existsSync(join(folder, 'left.killed'))).toBe(false);
  });

  test.concurrent('installer: is ended like any server once it is known to be installed', async () => {
    const server = await Server.run(installer('never'), { isInstaller: true });
    await eventually(() => server.output.includes('output'));
    server.process.confirmInstalled();
    await server.process.end();
    await server.process.gone;
    expect(isRunning(server.process.pid)).toBe(false);
  });

  test.concurrent('installer: is ended with its group if it fails', async () => {
    const server = await Server.run('sleep 300 & echo $!; exit 1', { isInstaller: true });
    const child = await server.childPid();
    await server.process.gone;
    expect(isRunning(child)).toBe(false);
  });
});

describe('command that cannot be started', () => {
  test('start failure: reports the command that was not found', async () => {
    await expect(start('no-such-command-anywhere', [])).rejects.toMatchObject({
      code: 'ENOENT',
      path: 'no-such-command-anywhere',
    });
  });

  test('start failure: reports a missing working directory', async () => {
    await expect(start('cat', [], '/no/such/folder')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('start failure: reports a NUL character in the command', async () => {
    await expect(start('a\0b', [])).rejects.toThrow(TypeError);
  });
});

describe.skipIf(process.platform !== 'linux')('child record', () => {
  test('child record: lists a process while it runs', async () => {
    const own = new ChildRecord(join(folder, 'run'), process.pid);
    const file = join(folder, 'run', `children-${process.pid}.json`);
    const server = await startServerProcess({
      command: 'cat',
      args: [],
      env: {},
      cwd: undefined,
      watchdog,
      childRecord: own,
      onStderr: () => {},
    });
    expect(existsSync(file)).toBe(true);
    await server.end();
    expect(existsSync(file)).toBe(false);
  });
});

/** Blocks the event loop, so that output and exit are seen in the same turn. */
function blockUntilExit(pid: number): void {
  const deadline = performance.now() + 3000;
  while (performance.now() < deadline) {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    if (stat[stat.lastIndexOf(')') + 2] === 'Z') return;
  }
  throw new Error(`Process ${pid} did not exit.`);
}

test('unread input: is detected when a write met a closed pipe', async () => {
  const stdin = new PassThrough();
  expect(hasUnreadInput(stdin)).toBe(false);
  stdin.on('error', () => {});
  stdin.destroy(new Error('EPIPE'));
  await vi.waitFor(() => expect(hasUnreadInput(stdin)).toBe(true));
});
