import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

import { waitForValue } from '../../support/eventually.ts';
import type { MisbehavingServer } from './misbehaving-server.ts';

/** A misbehaving server over HTTP. After a kill, the next one listens on the same port. */
export class HttpServer {
  readonly server: MisbehavingServer;
  url = '';
  #child: ChildProcess | undefined;
  #port = 0;
  #isClosed = false;

  constructor(server: MisbehavingServer) {
    this.server = server;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get isRunning(): boolean {
    const child = this.#child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  async start(): Promise<void> {
    if (this.#isClosed) return;
    const [command, ...args] = this.server.command();
    const child = spawn(command, [...args, '--http', String(this.#port), '--end-with-stdin'], {
      stdio: ['pipe', 'ignore', 'pipe'],
      env: { ...process.env, FIXTURE_LOG: this.server.log },
    });
    this.#child = child;
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (said.length < 10_000) said += text;
    });
    const search = (): string | undefined => /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(said)?.[0];
    this.url = await waitForValue(search, { what: `The address of ${this.server.name}`, withinMs: 20_000 });
    this.#port = Number(new URL(this.url).port);
  }

  /** Kills the server and starts another one after a pause. */
  async restart(restAfterMs: number): Promise<void> {
    await this.#end();
    await new Promise((resolve) => setTimeout(resolve, restAfterMs));
    await this.start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end();
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.isRunning) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}
