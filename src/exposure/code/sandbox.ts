import { Worker } from 'node:worker_threads';
import { Cancellation } from '../../lib/cancellation.ts';
import { Slots } from '../../lib/slots.ts';
import { GatewayError } from '../../model/errors.ts';
import { ScriptRun } from './script-run.ts';
import type { ScriptOptions, ScriptResult } from './script-run.ts';

/** The interpreter's own stack is measured against this; see the decision page on the sandbox. */
const STACK_MB = 16;
const KEEP_IDLE_MS = 60_000;
const MAX_IDLE = 1;

interface SandboxOptions {
  /** The entry of the thread; the interpreter's file lies beside it. */
  readonly worker: URL;
  /** Of each script. */
  readonly memoryMb: number;
  readonly maxScripts: number;
  /** Scripts that wait for their turn. */
  readonly maxWaiting: number;
  readonly now: () => number;
}

interface IdleWorker {
  readonly worker: Worker;
  readonly expiry: NodeJS.Timeout;
  readonly drop: () => void;
}

/**
 * Runs scripts in threads that are started when needed. A thread has one script at a time; it gets another only after an
 * orderly end, and every script has an interpreter in memory of its own.
 */
export class Sandbox implements AsyncDisposable {
  readonly #options: SandboxOptions;
  readonly #slots: Slots;
  readonly #idle: IdleWorker[] = [];
  readonly #closing = new Cancellation();
  readonly #ended = new Set<Promise<unknown>>();
  #running = 0;
  #onIdle: (() => void) | undefined;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#slots = new Slots({ width: options.maxScripts, maxWaiting: options.maxWaiting });
  }

  /** Rejects when cancelled; then nothing of the script is left. `started` is told how to stop its clock for questions. */
  async run(
    options: ScriptOptions,
    { cancellation, started }: { cancellation: Cancellation; started?: (run: ScriptRun) => void },
  ): Promise<ScriptResult> {
    if (!this.#slots.tryEnter()) {
      if (this.#slots.isFull) throw busy();
      await this.#slots.enter(cancellation);
    }
    this.#running += 1;
    try {
      cancellation.throwIfCancelled();
      this.#closing.throwIfCancelled();
      return await this.#runIn(this.#take(), options, { cancellation, started });
    } finally {
      this.#running -= 1;
      this.#slots.leave();
      if (this.#running === 0) this.#onIdle?.();
    }
  }

  /** Resolves when no script runs. */
  drained(): Promise<void> {
    return this.#running === 0 ? Promise.resolve() : new Promise((resolve) => (this.#onIdle = resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.cancel(
      new GatewayError('SHUTTING_DOWN', 'The gateway is stopping; try again in a moment.'),
    );
    for (const { worker, expiry } of this.#idle.splice(0)) {
      clearTimeout(expiry);
      this.#end(worker);
    }
    await this.drained();
    await Promise.all(this.#ended);
  }

  async #runIn(
    worker: Worker,
    options: ScriptOptions,
    {
      cancellation,
      started,
    }: { cancellation: Cancellation; started?: ((run: ScriptRun) => void) | undefined },
  ): Promise<ScriptResult> {
    const run = new ScriptRun(worker, options, this.#options.now);
    const abandon = (reason: Error): void => run.abandon(reason);
    cancellation.onCancel(abandon);
    this.#closing.onCancel(abandon);
    started?.(run);
    try {
      return await run.result;
    } finally {
      cancellation.offCancel(abandon);
      this.#closing.offCancel(abandon);
      if (run.isReusable && this.#closing.reason === undefined) this.#keep(worker);
      else this.#end(worker);
    }
  }

  #take(): Worker {
    const idle = this.#idle.pop();
    if (idle !== undefined) {
      clearTimeout(idle.expiry);
      // Not `removeAllListeners`, which takes the thread's own ones as well.
      idle.worker.off('error', idle.drop).off('exit', idle.drop).ref();
      return idle.worker;
    }
    const { worker, memoryMb } = this.#options;
    return new Worker(worker, {
      workerData: { interpreter: new URL('quickjs.wasm', worker).href, memoryMb },
      // Nothing of ours is there to be found, and nothing of its own can reach our standard output.
      env: {},
      execArgv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: { stackSizeMb: STACK_MB, maxOldGenerationSizeMb: 64 + 3 * memoryMb },
    });
  }

  #keep(worker: Worker): void {
    if (this.#idle.length >= MAX_IDLE) return this.#end(worker);
    worker.unref();
    const drop = (): void => {
      const at = this.#idle.findIndex((each) => each.worker === worker);
      if (at < 0) return;
      clearTimeout(this.#idle[at]?.expiry);
      this.#idle.splice(at, 1);
      this.#end(worker);
    };
    worker.on('error', drop).on('exit', drop);
    this.#idle.push({ worker, drop, expiry: setTimeout(drop, KEEP_IDLE_MS).unref() });
  }

  #end(worker: Worker): void {
    // It may die of what it was doing; nobody is interested any more.
    worker.on('error', () => {});
    const ended: Promise<unknown> = worker.terminate().finally(() => this.#ended.delete(ended));
    this.#ended.add(ended);
  }
}

function busy(): GatewayError {
  return new GatewayError('SCRIPT_BUSY', 'Too many scripts are running and waiting; try again in a moment.');
}
