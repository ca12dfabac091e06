import type { Worker } from 'node:worker_threads';
import { GatewayError } from '../../core/errors.ts';
import { SharedCpuClock } from './worker-messages.ts';
import type {
  ScriptCallAnswer,
  MessageFromWorker,
  ScriptOutcome,
  ScriptCall,
  ScriptData,
  ScriptLimits,
  MessageToWorker,
} from './worker-messages.ts';

/** Interval at which the limits of a running script are checked. */
const CHECK_EVERY_MS = 100;
/**
 * The interpreter stops itself at its CPU limit. After this grace period the thread is ended, because the interpreter cannot interrupt one
 * long operation, such as a search in a very long string.
 */
const GRACE_MS = 500;

export interface ScriptOptions {
  readonly source: string;
  /** JSON of the tools' names by server. */
  readonly names: string;
  readonly limits: ScriptLimits;
  readonly data?: ScriptData | undefined;
  /** Makes a call of the script; never rejects. */
  readonly call: (call: ScriptCall) => Promise<ScriptCallAnswer>;
}

export interface ScriptResult {
  readonly outcome: ScriptOutcome;
  readonly log: readonly string[];
  readonly isLogCut: boolean;
  /** Whether calls that the script did not await were still running when it was stopped. */
  readonly hasUnfinishedCalls: boolean;
}

/** Runs one script in a thread: answers its calls, enforces its limits, and reports its end. */
export class ScriptRun {
  readonly result: Promise<ScriptResult>;
  readonly #worker: Worker;
  readonly #options: ScriptOptions;
  readonly #clock: SharedCpuClock;
  readonly #log: string[] = [];
  readonly #limitCheck: NodeJS.Timeout;
  /** When the script is stopped, on the clock of `performance.now()`. */
  #deadline: number;
  /** The number of questions that await an answer from a person. */
  #openQuestions = 0;
  /** The time since which at least one question has been open. */
  #openQuestionsSince = 0;
  #outcome: ScriptOutcome | undefined;
  #isLogCut = false;
  #hasEnded = false;
  #resolve!: (result: ScriptResult) => void;
  #reject!: (reason: Error) => void;
  /** Whether the thread may be given another script. */
  isReusable = false;

  constructor(worker: Worker, options: ScriptOptions, now: () => number) {
    this.#worker = worker;
    this.#options = options;
    this.#deadline = performance.now() + options.limits.timeoutMs;
    const clock = SharedCpuClock.buffer();
    this.#clock = new SharedCpuClock(clock, now);
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    worker.on('message', this.#onMessage).on('error', this.#onThreadEnd).on('exit', this.#onThreadEnd);
    this.#limitCheck = setInterval(() => this.#checkLimits(), CHECK_EVERY_MS);
    const { source, names, limits, data } = options;
    this.#post({ kind: 'run', source, names, limits, clock, data });
  }

  /** Pauses the timeout while a person answers a question: called with true when a question is sent, with false when it is closed. */
  setQuestionOpen(isOpen: boolean): void {
    if (isOpen && this.#openQuestions++ === 0) this.#openQuestionsSince = performance.now();
    if (!isOpen && --this.#openQuestions === 0)
      this.#deadline += performance.now() - this.#openQuestionsSince;
  }

  /** Ends the run without a result. */
  abandon(reason: Error): void {
    if (this.#end()) this.#reject(reason);
  }

  readonly #onMessage = (message: MessageFromWorker): void => {
    switch (message.kind) {
      case 'call':
        void this.#options.call(message.call).then((answer) => {
          if (!this.#hasEnded) this.#post({ kind: 'answer', id: message.call.id, answer });
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

  /**
   * Handles an unexpected end of the thread: it ran out of memory that the interpreter does not count, a file is missing, or Trunkline has
   * a defect.
   */
  readonly #onThreadEnd = (reason: unknown): void => {
    if (errorCode(reason) === 'ERR_WORKER_OUT_OF_MEMORY')
      return this.#finish({ kind: 'stopped', limit: 'memory' });
    const message = isMissingFile(reason)
      ? 'The script thread cannot start: a file of Trunkline is missing. Install Trunkline again.'
      : 'The script thread ended unexpectedly. Run the script again; if it happens again, report it as a defect of Trunkline.';
    this.abandon(new GatewayError('INVARIANT', message, { cause: reason }));
  };

  #checkLimits(): void {
    const { cpuMs } = this.#options.limits;
    if (this.#clock.usedMs > cpuMs + GRACE_MS) this.#finish({ kind: 'stopped', limit: 'cpu' });
    else if (this.#openQuestions === 0 && performance.now() > this.#deadline)
      this.#finish({ kind: 'stopped', limit: 'time' });
  }

  #finish(outcome: ScriptOutcome): void {
    if (!this.#end()) return;
    this.#resolve({
      // A value that the script returned before it was stopped is its result.
      outcome: this.#outcome ?? outcome,
      log: this.#log,
      isLogCut: this.#isLogCut,
      hasUnfinishedCalls: this.#outcome !== undefined && outcome.kind === 'stopped',
    });
  }

  /** Detaches from the thread; returns false if the run had already ended. */
  #end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    clearInterval(this.#limitCheck);
    this.#worker
      .off('message', this.#onMessage)
      .off('error', this.#onThreadEnd)
      .off('exit', this.#onThreadEnd);
    return true;
  }

  #post(message: MessageToWorker): void {
    this.#worker.postMessage(message);
  }
}

/**
 * Whether a file of the program is missing, for example because an update replaced it while the gateway was
 * running.
 */
function isMissingFile(reason: unknown): boolean {
  const code = errorCode(reason);
  return code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND' || code === 'ENOENT';
}

function errorCode(reason: unknown): unknown {
  return reason instanceof Error && 'code' in reason ? reason.code : undefined;
}
