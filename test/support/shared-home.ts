import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { eventually } from './eventually.ts';
import { type GatewayOptions, type RunningGateway, startGateway } from './gateway.ts';
import { isRunning, runningProcesses } from './processes.ts';
import { temporaryFolder } from './test-run.ts';

const built = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface CommandOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Record {
  readonly pid: number;
  readonly socket: string;
  readonly [member: string]: unknown;
}

/** A home whose clients share a background gateway; closing it ends that gateway in any state. */
export class SharedHome implements AsyncDisposable {
  readonly home: string;
  readonly #options: Omit<GatewayOptions, 'home' | 'listen'>;
  readonly #pipes: RunningGateway[] = [];

  constructor(options: Omit<GatewayOptions, 'listen'>) {
    this.home = options.home ?? temporaryFolder('h');
    this.#options = options;
  }

  /** Starts `serve` as a client does. */
  async pipe(changes: Partial<Omit<GatewayOptions, 'home' | 'listen'>> = {}): Promise<RunningGateway> {
    const pipe = await startGateway({ ...this.#options, ...changes, home: this.home, listen: 'attached' });
    this.#pipes.push(pipe);
    return pipe;
  }

  /** Returns the content of `run/gateway.json`, or undefined if it does not exist. */
  record(): Record | undefined {
    try {
      return JSON.parse(readFileSync(join(this.run, 'gateway.json'), 'utf8')) as Record;
    } catch {
      return undefined; // No gateway runs.
    }
  }

  get run(): string {
    return join(this.home, 'state', 'run');
  }

  /** Process id of the gateway that clients currently find. */
  get pid(): number {
    const record = this.record();
    if (record === undefined) throw new Error(`There is no gateway.json in ${this.run}.`);
    return record.pid;
  }

  /** Returns the process ids of all background gateways of this home, even those that clients do not find. */
  gateways(): readonly number[] {
    return runningProcesses()
      .filter(({ commandLine }) => commandLine.includes('--background') && commandLine.includes(this.home))
      .map(({ pid }) => pid);
  }

  command(...args: readonly string[]): Promise<CommandOutcome> {
    return this.commandIn({}, ...args);
  }

  /** Runs a command in a shell with more variables. */
  commandIn(
    variables: NonNullable<GatewayOptions['env']>,
    ...args: readonly string[]
  ): Promise<CommandOutcome> {
    const env = { ...process.env, TRUNKLINE_HOME: this.home, ...this.#options.env, ...variables };
    return new Promise((resolve) => {
      const child = execFile(process.execPath, [built, ...args], { env }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
      // Without input, as in a script.
      child.stdin?.end();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      for (const pipe of this.#pipes) await pipe[Symbol.asyncDispose]();
    } finally {
      const left = this.gateways();
      for (const pid of left) process.kill(pid, 'SIGTERM');
      await eventually(() => !left.some((pid) => isRunning(pid)), {
        what: 'The end of gateways',
        withinMs: 15_000,
      });
    }
  }
}
