import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { waitForValue } from './eventually.ts';
import { RawClient } from './raw-client.ts';
import type { RawClientOptions } from './raw-messages.ts';
import {
  type StdioChild,
  type Transport,
  httpTransport,
  sseTransport,
  stdioTransport,
} from './raw-transports.ts';
import { temporaryFolder } from './test-run.ts';
import { scaleDeadline } from './scale-deadline.ts';

export interface GatewayOptions {
  readonly mcpServers: Readonly<Record<string, unknown>>;
  /** More keys of the config file. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** More arguments of `serve`. */
  readonly args?: readonly string[];
  /** Environment variables; `undefined` removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The home of an earlier gateway, for a start with its state. */
  readonly home?: string;
  /**
   * How clients reach it; `stdio` by default. `attached` is stdio through a gateway in the background, as users have it, which
   * `SharedHome` ends; `configured` is HTTP at the address of the config file.
   */
  readonly listen?: 'stdio' | 'http' | 'configured' | 'attached';
  /** The program to run instead of the build, for example the binary of an installed package. */
  readonly program?: readonly [string, ...string[]];
}

export interface GatewayCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly home: string;
  readonly configFile: string;
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningGateway extends AsyncDisposable {
  readonly home: string;
  /** Its environment variables; commands for this gateway need them, too. */
  readonly env?: GatewayOptions['env'] | undefined;
  readonly configFile: string;
  readonly pid: number;
  /** The MCP URL; empty for stdio. */
  readonly url: string;
  readonly exited: Promise<Exit>;
  stderr(): string;
  /** Opens a client; `open: false` leaves the handshake to the test. Over stdio there is exactly one client. */
  client(
    options?: RawClientOptions & { readonly over?: Transport; readonly open?: boolean },
  ): Promise<RawClient>;
  signal(signal: NodeJS.Signals): void;
  /** Stops it, and fails unless it exits in time with code 0. */
  stop(options?: { readonly withinMs?: number }): Promise<void>;
  kill(): Promise<void>;
}

const built = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Returns a `trunkline wrap` command for a server, without a configuration. */
export function wrapCommand(
  server: readonly string[],
  options: readonly string[] = [],
): readonly [string, ...string[]] {
  return [process.execPath, built, 'wrap', ...options, ...(server.length > 0 ? ['--', ...server] : [])];
}

/** Writes the config and returns the command of the gateway, for clients that start it themselves. */
export function gatewayCommand(options: GatewayOptions): GatewayCommand {
  const home = options.home ?? temporaryFolder('trunkline-home');
  const configFile = join(home, 'config.jsonc');
  writeFileSync(configFile, JSON.stringify({ mcpServers: options.mcpServers, ...options.config }, null, 2));
  const [command, ...program] = options.program ?? [process.execPath, built];
  const listen = {
    http: ['--http', '127.0.0.1:0'],
    configured: ['--http'],
    stdio: ['--standalone'],
    attached: [],
  }[options.listen ?? 'stdio'];
  const args = [
    ...program,
    'serve',
    '--config',
    configFile,
    ...listen,
    ...(options.args ?? ['--expose', 'direct']),
  ];
  return { command, args, env: environment({ TRUNKLINE_HOME: home, ...options.env }), home, configFile };
}

/** Starts a gateway. Over HTTP, resolves when it accepts requests; over stdio, when its process exists. */
export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const { command, args, env, home, configFile } = gatewayCommand(options);
  const child: StdioChild = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = once(child, 'exit').then(([code, signal]): Exit => ({ code, signal }));
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const isHttp = options.listen === 'http' || options.listen === 'configured';
  const url = isHttp ? await addressOf(() => stderr, hasEnded) : '';
  const gateway: RunningGateway = {
    home,
    env: options.env,
    configFile,
    url,
    exited,
    pid: child.pid ?? 0,
    stderr: () => stderr,
    async client({ over = url === '' ? 'stdio' : 'http', open = true, ...clientOptions } = {}) {
      const client = await RawClient.over(transportTo(over, child, url), clientOptions);
      if (open) await client.open();
      return client;
    },
    signal: (signal) => void child.kill(signal),
    async stop({ withinMs = 30_000 } = {}) {
      if (!hasEnded()) child.kill('SIGTERM');
      const exit = await Promise.race([exited, late(scaleDeadline(withinMs, 'tests'))]);
      if (exit === 'late' || exit.code !== 0) {
        await gateway.kill();
        const how =
          exit === 'late' ? `did not end within ${withinMs} ms` : `ended with ${exit.signal ?? exit.code}`;
        throw new Error(`The gateway ${how}. It said:\n${stderr}`);
      }
    },
    async kill() {
      if (!hasEnded()) child.kill('SIGKILL');
      await exited;
    },
    async [Symbol.asyncDispose]() {
      if (!hasEnded()) await gateway.stop();
      // A grandchild may still hold the pipes, which must not keep the test alive.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    },
  };
  return gateway;
}

function transportTo(over: Transport, child: StdioChild, url: string) {
  switch (over) {
    case 'stdio':
      return stdioTransport(child);
    case 'http':
      return httpTransport(url);
    case 'sse':
      return sseTransport(new URL('/sse', url).href);
  }
}

async function addressOf(stderr: () => string, hasEnded: () => boolean): Promise<string> {
  const search = (): string | undefined =>
    /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(stderr())?.[0] ?? (hasEnded() ? '' : undefined);
  const url = await waitForValue(search, { what: 'The address of the gateway', withinMs: 45_000 });
  if (url === '') throw new Error(`The gateway ended before it listened. It said:\n${stderr()}`);
  return url;
}

function environment(changes: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const all = Object.entries({ ...process.env, ...changes });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function late(ms: number): Promise<'late'> {
  return new Promise((resolve) => {
    setTimeout(() => resolve('late'), ms).unref();
  });
}
