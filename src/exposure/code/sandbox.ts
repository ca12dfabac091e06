import { Worker } from 'node:worker_threads';
import { Cancellation } from '../../core/lib/cancellation.ts';
import { Slots } from '../../core/lib/slots.ts';
import { GatewayError } from '../../core/errors.ts';
import { ScriptRun } from './script-run.ts';
import type { ScriptOptions, ScriptResult } from './script-run.ts';

/** The interpreter's own stack limit must stay below this; see docs/decisions/code-sandbox.md. */
const STACK_MB = 16;
/** An idle thread ends after this time. */
const KEEP_IDLE_MS = 60_000;
/** The maximum number of idle threads that are kept. */
const MAX_IDLE = 1;

interface SandboxOptions {
  /** The entry file of the thread; the interpreter's file is in the same folder. */
  readonly worker: URL;
  /** The memory limit of each script, in MiB. */
  readonly memoryMb: number;
  readonly maxScripts: number;
  /** The maximum number of queued scripts. */
  readonly maxWaiting: number;
  readonly now: () => number;
}

interface IdleWorker {
  readonly worker: Worker;
  readonly expiry: NodeJS.Timeout;
  /** Removes the thread from the idle ones and ends it. */
  readonly drop: () => void;
}

/**
 * Runs scripts in threads that are started on demand. A thread runs one script at a time and is reused only after the script
 * ended cleanly; every script has its own interpreter with its own memory.
 */
export class Sandbox implements AsyncDisposable {
  readonly #options: SandboxOptions;
  readonly #slots: Slots;
  readonly #idle: IdleWorker[] = [];
  readonly #shutdown = new Cancellation();
  /** Threads that are ending. Disposal waits for them. */
  readonly #terminations = new Set<Promise<unknown>>();
  #running = 0;
  /** Resolves the promises of `waitUntilIdle`. */
  readonly #idleWaiters: (() => void)[] = [];

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#slots = new Slots({ width: options.maxScripts, maxWaiting: options.maxWaiting });
  }

  /**
   * Runs a script, after waiting for a free slot if necessary. Rejects if cancelled; the thread is then terminated. `started` receives the
   * run, so that the caller can pause its timeout while a person answers a question.
   */
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
      this.#shutdown.throwIfCancelled();
      return await this.#runIn(this.#take(), options, { cancellation, started });
    } finally {
      this.#running -= 1;
      this.#slots.leave();
      if (this.#running === 0) for (const notify of this.#idleWaiters.splice(0)) notify();
    }
  }

  /** Resolves once no script is running. */
  waitUntilIdle(): Promise<void> {
    return this.#running === 0
      ? Promise.resolve()
      : new Promise((resolve) => void this.#idleWaiters.push(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#shutdown.cancel(
      new GatewayError('SHUTTING_DOWN', 'The gateway is stopping; try again in a few seconds.'),
    );
    for (const { worker, expiry } of this.#idle.splice(0)) {
      clearTimeout(expiry);
      this.#end(worker);
    }
    await this.waitUntilIdle();
    await Promise.all(this.#terminations);
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
    this.#shutdown.onCancel(abandon);
    started?.(run);
    try {
      return await run.result;
    } finally {
      cancellation.offCancel(abandon);
      this.#shutdown.offCancel(abandon);
      if (run.isReusable && this.#shutdown.reason === undefined) this.#keep(worker);
      else this.#end(worker);
    }
  }

  #take(): Worker {
    const idle = this.#idle.pop();
    if (idle !== undefined) {
      clearTimeout(idle.expiry);
      // `removeAllListeners` would also remove Node's own listeners of the thread.
      idle.worker.off('error', idle.drop).off('exit', idle.drop).ref();
      return idle.worker;
    }
    const { worker, memoryMb } = this.#options;
    return new Worker(worker, {
      workerData: { interpreterUrl: new URL('quickjs.wasm', worker).href, memoryMb },
      // The thread sees no environment variables of the gateway and cannot write to its standard output.
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
      const at = this.#idle.findIndex((idle) => idle.worker === worker);
      if (at < 0) return;
      clearTimeout(this.#idle[at]?.expiry);
      this.#idle.splice(at, 1);
      this.#end(worker);
    };
    worker.on('error', drop).on('exit', drop);
    this.#idle.push({ worker, drop, expiry: setTimeout(drop, KEEP_IDLE_MS).unref() });
  }

  #end(worker: Worker): void {
    // An error of the ending thread no longer matters, but without a listener it would end the process.
    worker.on('error', () => {});
    const termination: Promise<unknown> = worker
      .terminate()
      .finally(() => this.#terminations.delete(termination));
    this.#terminations.add(termination);
  }
}

function busy(): GatewayError {
  return new GatewayError(
    'SCRIPT_BUSY',
    'Too many scripts are running or queued; try again in a few seconds.',
  );
}
