import { spawn } from 'node:child_process';
import { once } from 'node:events';

import type { FixtureLog } from './fixture-log.ts';
import { type Preset, fixture, fixtureLog, startHttpFixture } from './fixture.ts';
import { RawClient } from './raw-client.ts';
import type { RawClientOptions } from './raw-messages.ts';
import {
  type StdioChild,
  type Transport,
  httpTransport,
  sseTransport,
  stdioTransport,
} from './raw-transports.ts';

export interface DirectOptions extends RawClientOptions {
  readonly over?: Transport;
  /** `false` leaves the handshake to the test. */
  readonly open?: boolean;
}

/** A client connected to a fixture server without a gateway, as the reference for what a gateway must not change. */
export interface DirectConnection extends AsyncDisposable {
  readonly client: RawClient;
  readonly log: FixtureLog;
  readonly pid: number;
  readonly stderr: () => string;
  /** Exit code or signal of the process; stdio only. */
  readonly exited: Promise<number | string>;
}

export async function connectDirectly(
  preset: Preset,
  args: readonly string[] = [],
  { over = 'stdio', open = true, ...options }: DirectOptions = {},
): Promise<DirectConnection> {
  const direct = await (over === 'stdio'
    ? overStdio(preset, args, options)
    : overHttp(preset, args, { over, ...options }));
  try {
    if (open) await direct.client.open();
  } catch (error) {
    await direct[Symbol.asyncDispose]();
    throw error;
  }
  return direct;
}

async function overStdio(
  preset: Preset,
  args: readonly string[],
  options: RawClientOptions,
): Promise<DirectConnection> {
  const entry = fixture(preset, ...eraArgs(args, options), ...args);
  const child: StdioChild = spawn(entry.command, entry.args, {
    env: { ...process.env, ...entry.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    // In its own process group, so that its children can be killed with it.
    detached: true,
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = once(child, 'exit').then(([code, signal]): number | string => signal ?? code);
  const client = await RawClient.over(stdioTransport(child), options);
  return {
    client,
    exited,
    log: fixtureLog(entry),
    pid: child.pid ?? 0,
    stderr: () => stderr,
    async [Symbol.asyncDispose]() {
      await client.close();
      const forced = setTimeout(() => killGroup(child.pid), 1000);
      await exited;
      clearTimeout(forced);
      killGroup(child.pid);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    },
  };
}

async function overHttp(
  preset: Preset,
  args: readonly string[],
  { over, ...options }: RawClientOptions & { readonly over: 'http' | 'sse' },
): Promise<DirectConnection> {
  const listens = over === 'sse' ? ['--sse', '0'] : [];
  const server = await startHttpFixture(preset, [...eraArgs(args, options), ...args, ...listens]);
  const client = await RawClient.over(
    over === 'sse' ? sseTransport(server.url) : httpTransport(server.url),
    options,
  );
  return {
    client,
    log: server.log,
    pid: server.pid,
    stderr: () => '',
    exited: new Promise(() => {}),
    async [Symbol.asyncDispose]() {
      await client.close();
      await server.stop();
    },
  };
}

/** The server uses the era of the client unless `args` contains `--era`. */
function eraArgs(args: readonly string[], { era }: RawClientOptions): readonly string[] {
  return era === undefined || args.includes('--era') ? [] : ['--era', era];
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Best effort: usually the group is already empty.
  }
}
