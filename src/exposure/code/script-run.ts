import type { Worker } from 'node:worker_threads';
import { GatewayError } from '../../model/errors.ts';
import { SharedClock } from './messages.ts';
import type { Answer, FromWorker, Outcome, ScriptCall, ScriptLimits, ToWorker } from './messages.ts';

/** How often somebody looks whether a script computes for too long. */
const LOOK_EVERY_MS = 100;
/** The interpreter stops itself at its limit; what it cannot stop, such as a search in a very long string, we end. */
const GRACE_MS = 500;

export interface ScriptOptions {
  readonly source: string;
  /** JSON of the tools' names by server. */
  readonly names: string;
  readonly limits: ScriptLimits;
  /** Never rejects. */
  readonly call: (call: ScriptCall) => Promise<Answer>;
}

export interface ScriptResult {
  readonly outcome: Outcome;
  readonly log: readonly string[];
  readonly isLogCut: boolean;
  /** Whether calls that the script did not wait for were running when it had to end. */
  readonly leftCalls: boolean;
}

/** One script in a thread: answers its calls, watches its limits, and knows when it is over. */
export class ScriptRun {
  readonly result: Promise<ScriptResult>;
  readonly #worker: Worker;
  readonly #options: ScriptOptions;
  readonly #clock: SharedClock;
  readonly #log: string[] = [];
  readonly #looking: NodeJS.Timeout;
  #until: number;
  /** How many questions people think about, and since when there are any. */
  #asking = 0;
  #askingSince = 0;
  #outcome: Outcome | undefined;
  #isLogCut = false;
  #isOver = false;
  #settle!: (result: ScriptResult) => void;
  #fail!: (reason: Error) => void;
  /** Whether the thread may be given another script. */
  isReusable = false;

  constructor(worker: Worker, options: ScriptOptions, now: () => number) {
    this.#worker = worker;
    this.#options = options;
    this.#until = performance.now() + options.limits.timeoutMs;
    const clock = SharedClock.buffer();
    this.#clock = new SharedClock(clock, now);
    this.result = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#fail = reject;
    });
    worker.on('message', this.#received).on('error', this.#lost).on('exit', this.#lost);
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS);
    const { source, names, limits } = options;
    this.#post({ kind: 'run', source, names, limits, clock });
  }

  /** Time in which a person thinks does not count. */
  asking(isOpen: boolean): void {
    if (isOpen && this.#asking++ === 0) this.#askingSince = performance.now();
    if (!isOpen && --this.#asking === 0) this.#until += performance.now() - this.#askingSince;
  }

  /** Nobody wants the result any more. */
  abandon(reason: Error): void {
    if (this.#over()) this.#fail(reason);
  }

  readonly #received = (message: FromWorker): void => {
    switch (message.kind) {
      case 'call':
        void this.#options.call(message.call).then((answer) => {
          if (!this.#isOver) this.#post({ kind: 'answer', id: message.call.id, answer });
        });
        return;
      case 'log':
        this.#log.push(message.text);
        this.#isLogCut ||= message.isCut;
        return;
      case 'ended':
        this.#outcome = message.outcome;
        return;
      case 'done':
        this.isReusable = message.isReusable;
        this.#finish(this.#outcome ?? { kind: 'stuck' });
        return;
    }
  };

  /** The thread ended by itself: it ran out of memory that the interpreter does not count, or something of ours is not where it should be. */
  readonly #lost = (reason: unknown): void => {
    if (!isMissing(reason)) return this.#finish({ kind: 'stopped', limit: 'memory' });
    this.abandon(
      new GatewayError('INVARIANT', 'The thread for scripts cannot be started; Trunkline is not whole.', {
        cause: reason,
      }),
    );
  };

  #look(): void {
    const { cpuMs } = this.#options.limits;
    if (this.#clock.usedMs > cpuMs + GRACE_MS) this.#finish({ kind: 'stopped', limit: 'cpu' });
    else if (this.#asking === 0 && performance.now() > this.#until)
      this.#finish({ kind: 'stopped', limit: 'time' });
  }

  #finish(outcome: Outcome): void {
    if (!this.#over()) return;
    this.#settle({
      // What it had returned before is its result, whatever became of the rest.
      outcome: this.#outcome ?? outcome,
      log: this.#log,
      isLogCut: this.#isLogCut,
      leftCalls: this.#outcome !== undefined && outcome.kind === 'stopped',
    });
  }

  #over(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearInterval(this.#looking);
    this.#worker.off('message', this.#received).off('error', this.#lost).off('exit', this.#lost);
    return true;
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }
}

/** A file that was removed or replaced while we run, as by an update. */
function isMissing(reason: unknown): boolean {
  const code = reason instanceof Error && 'code' in reason ? reason.code : undefined;
  return code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND' || code === 'ENOENT';
}
