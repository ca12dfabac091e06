import { randomUUID } from 'node:crypto';
import { monotonicNow } from '../../../core/lib/monotonic-now.ts';
import { SharedCpuClock } from '../worker-messages.ts';
import type {
  ScriptCallAnswer,
  MessageFromWorker,
  ScriptLimit,
  ScriptOutcome,
  ScriptLimits,
  MessageToWorker,
} from '../worker-messages.ts';
import { compileScript, isCompileError } from './compile-script.ts';
import type { ScriptInterpreter } from './interpreter.ts';

const MAX_LOG_LINES = 1000;
const MAX_TIMERS = 1000;
/** The longest timer of Node; the script's timeout ends earlier. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** The maximum characters of all pending arguments, which are in the gateway's memory and not in the script's. */
const MAX_ARGUMENTS = 16_000_000;

interface ScriptDeps {
  readonly post: (message: MessageFromWorker) => void;
  /** `isClean` is false if the script was stopped or the interpreter failed. */
  readonly done: (isClean: boolean) => void;
}

/** Runs one script in the worker thread, from its source to the end of its last call. */
export class Script {
  readonly #interpreter: ScriptInterpreter;
  readonly #run: Extract<MessageToWorker, { kind: 'run' }>;
  readonly #deps: ScriptDeps;
  readonly #clock: SharedCpuClock;
  /** A secret prefix, with which the prelude marks large integers; see `#unmarkNumbers`. */
  readonly #nonce = `${randomUUID()}:`;
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #limits: ScriptLimits;
  /** The length of the arguments of each pending call. */
  readonly #pendingCalls = new Map<number, number>();
  #callCount = 0;
  #loggedChars = 0;
  #loggedLines = 0;
  /** The limit that was exceeded; the script is stopped at its next check. */
  #limit: ScriptLimit | undefined;
  #outcome: ScriptOutcome | undefined;
  /** Whether the interpreter itself failed, so the thread cannot be reused. */
  #hasFailed = false;

  constructor(
    interpreter: ScriptInterpreter,
    run: Extract<MessageToWorker, { kind: 'run' }>,
    deps: ScriptDeps,
  ) {
    this.#interpreter = interpreter;
    this.#run = run;
    this.#deps = deps;
    this.#limits = run.limits;
    this.#clock = new SharedCpuClock(run.clock, monotonicNow);
  }

  async start(): Promise<void> {
    this.#clock.begin();
    try {
      // On a busy machine, the CPU limit can interrupt the prelude, so the interpreter is opened inside the `try`.
      this.#interpreter.open(
        {
          call: (id, call) => this.#call(id, call),
          log: (text) => this.#log(text),
          names: () => this.#run.names,
          data: () => this.#run.data,
          timer: (id, ms) => this.#timer(id, ms),
          ended: (kind, json) => this.#onEnded(kind, json),
          isOverLimit: () => this.#isOverLimit(),
        },
        this.#nonce,
      );
      const compiled = await compileScript(
        this.#run.source,
        (source) => this.#interpreter.check(source),
        this.#run.data !== undefined,
      );
      if (isCompileError(compiled)) this.#end({ kind: 'thrown', ...compiled });
      else this.#interpreter.run(compiled.source, compiled.isScript);
    } catch (error) {
      this.#fail(error);
    }
    this.#afterTurn();
  }

  answer(id: number, answer: ScriptCallAnswer): void {
    this.#pendingCalls.delete(id);
    const isMarked = answer.kind === 'value' && answer.isMarked;
    this.#turn(() => this.#interpreter.settle(id, answer.kind === 'error', answer.json, isMarked));
  }

  /** Continues the script after an event that it waited for, and measures the CPU time. */
  #turn(work: () => void): void {
    this.#clock.begin();
    try {
      work();
    } catch (error) {
      this.#fail(error);
    }
    this.#afterTurn();
  }

  /**
   * Ends the script if it exceeded a limit or waits for nothing. Pending calls may finish after the script
   * has returned, but its timers are cleared.
   */
  #afterTurn(): void {
    this.#clock.end();
    if (this.#limit !== undefined) this.#end({ kind: 'stopped', limit: this.#limit });
    const isWaiting = this.#pendingCalls.size > 0 || (this.#outcome === undefined && this.#timers.size > 0);
    if (isWaiting && this.#limit === undefined) return;
    // Has no effect if the script has returned or thrown. Otherwise, the script waits for a promise that
    // nothing can settle.
    this.#end(this.#interpreter.isExhausted ? { kind: 'stopped', limit: 'memory' } : { kind: 'stuck' });
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#deps.done(this.#limit === undefined && !this.#hasFailed);
  }

  /** Handles a failure of the interpreter itself, which happens if it cannot allocate memory. */
  #fail(error: unknown): void {
    this.#hasFailed = true;
    if (this.#limit !== undefined) return;
    const text = error instanceof Error ? error.message : String(error);
    if (this.#interpreter.isExhausted || /memory|alloc/i.test(text)) this.#limit = 'memory';
    else this.#end({ kind: 'thrown', name: 'InternalError', message: text.slice(0, 500) });
  }

  /** Reports the outcome; only the first one counts. */
  #end(outcome: ScriptOutcome): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    this.#deps.post({ kind: 'ended', outcome });
  }

  /** Polled by the interpreter; returns whether the script must stop. */
  #isOverLimit(): boolean {
    if (this.#limit === undefined && this.#clock.usedMs > this.#limits.cpuMs) this.#limit = 'cpu';
    return this.#limit !== undefined;
  }

  /**
   * Starts a call. Returns an error message if the call is rejected. A script that exceeds a limit gets no
   * message, because it is stopped.
   */
  #call(
    id: number,
    call: {
      readonly server?: string | undefined;
      readonly tool: string;
      readonly args: string;
      readonly raw: boolean;
    },
  ): string | undefined {
    if (this.#limit !== undefined) return undefined;
    this.#callCount += 1;
    if (this.#callCount > this.#limits.maxCalls) {
      this.#limit = 'calls';
      return undefined;
    }
    const chars = [...this.#pendingCalls.values()].reduce((sum, length) => sum + length, call.args.length);
    if (chars > MAX_ARGUMENTS)
      return `The arguments of the calls that run at the same time have ${chars} characters; at most ${MAX_ARGUMENTS} are allowed.`;
    this.#pendingCalls.set(id, call.args.length);
    this.#deps.post({ kind: 'call', call: { id, ...call, args: this.#unmarkNumbers(call.args) } });
    return undefined;
  }

  /** Posts a line of the log. Returns true if the log is full, so that the prelude sends no more. */
  #log(text: string): boolean {
    const room = this.#limits.maxOutput - this.#loggedChars;
    this.#loggedLines += 1;
    const isCut = text.length > room || this.#loggedLines > MAX_LOG_LINES;
    this.#deps.post({ kind: 'log', text: isCut ? text.slice(0, Math.max(0, room)) : text, isCut });
    this.#loggedChars += text.length + 1;
    return isCut;
  }

  /** Starts a timer, or cancels it if `ms` is negative. Timers beyond `MAX_TIMERS` never fire. */
  #timer(id: number, ms: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    if (!(ms >= 0) || this.#timers.size >= MAX_TIMERS) return;
    const fire = (): void => {
      this.#timers.delete(id);
      this.#turn(() => this.#interpreter.fire(id));
    };
    this.#timers.set(id, setTimeout(fire, Math.min(ms, MAX_TIMER_MS)));
  }

  #onEnded(kind: string, json: string): void {
    if (this.#limit !== undefined) return;
    if (kind === 'value')
      return this.#end(json === '' ? { kind } : { kind, json: this.#unmarkNumbers(json) });
    const { name, message, stack } = JSON.parse(json) as Record<'name' | 'message' | 'stack', string>;
    // The interpreter throws null if it has no memory left for an error.
    const isNull = name === '' && message === 'null';
    if (
      (name === 'InternalError' && message === 'out of memory') ||
      (isNull && this.#interpreter.isExhausted)
    ) {
      this.#limit = 'memory';
      return;
    }
    const line = /\(?script:(\d+)/.exec(stack)?.[1];
    this.#end({ kind: 'thrown', name, message, line: line === undefined ? undefined : Number(line) });
  }

  /** Turns large integers, which the prelude marked with a secret prefix, back into JSON numbers. */
  #unmarkNumbers(json: string): string {
    return json.includes(this.#nonce)
      ? json.replaceAll(new RegExp(`"${this.#nonce}(-?\\d+)"`, 'g'), '$1')
      : json;
  }
}
