import { randomUUID } from 'node:crypto';
import { steadyNow } from '../../../lib/steady-now.ts';
import { SharedClock } from '../messages.ts';
import type { Answer, FromWorker, Limit, Outcome, ScriptLimits, ToWorker } from '../messages.ts';
import { compile, isMistake } from './compile.ts';
import type { Guest } from './guest.ts';

const MAX_LOG_LINES = 1000;
const MAX_TIMERS = 1000;
/** Node takes no longer ones; the script's own time is over before. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Characters that wait in our memory and not in the script's. */
const MAX_ARGUMENTS = 16_000_000;

interface ScriptDeps {
  readonly post: (message: FromWorker) => void;
  /** `isClean` unless it was stopped or went wrong in a way that no script should. */
  readonly done: (isClean: boolean) => void;
}

/** One run of one script, from its source to the last of its calls. */
export class Script {
  readonly #guest: Guest;
  readonly #run: Extract<ToWorker, { kind: 'run' }>;
  readonly #deps: ScriptDeps;
  readonly #clock: SharedClock;
  readonly #nonce = `${randomUUID()}:`;
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #limits: ScriptLimits;
  /** How long the arguments are of calls that were not answered yet. */
  readonly #pending = new Map<number, number>();
  #calls = 0;
  #logged = 0;
  #lines = 0;
  #limit: Limit | undefined;
  #outcome: Outcome | undefined;
  #isBroken = false;

  constructor(guest: Guest, run: Extract<ToWorker, { kind: 'run' }>, deps: ScriptDeps) {
    this.#guest = guest;
    this.#run = run;
    this.#deps = deps;
    this.#limits = run.limits;
    this.#clock = new SharedClock(run.clock, steadyNow);
  }

  async start(): Promise<void> {
    this.#clock.begin();
    this.#guest.open(
      {
        call: (id, call) => this.#call(id, call),
        log: (text) => this.#log(text),
        names: () => this.#run.names,
        timer: (id, ms) => this.#timer(id, ms),
        ended: (kind, json) => this.#ended(kind, json),
        isOver: () => this.#isOver(),
      },
      this.#nonce,
    );
    try {
      const compiled = await compile(this.#run.source, (source) => this.#guest.check(source));
      if (isMistake(compiled)) this.#end({ kind: 'thrown', ...compiled });
      else this.#guest.run(compiled.source, compiled.isScript);
    } catch (error) {
      this.#broken(error);
    }
    this.#afterTurn();
  }

  answer(id: number, answer: Answer): void {
    this.#pending.delete(id);
    const isMarked = answer.kind === 'value' && answer.isMarked;
    this.#turn(() => this.#guest.settle(id, answer.kind === 'error', answer.json, isMarked));
  }

  /** Something that the script waited for has happened. */
  #turn(work: () => void): void {
    this.#clock.begin();
    try {
      work();
    } catch (error) {
      this.#broken(error);
    }
    this.#afterTurn();
  }

  #afterTurn(): void {
    this.#clock.end();
    if (this.#limit !== undefined) this.#end({ kind: 'stopped', limit: this.#limit });
    const isWaiting = this.#pending.size > 0 || (this.#outcome === undefined && this.#timers.size > 0);
    if (isWaiting && this.#limit === undefined) return;
    this.#end(this.#guest.isExhausted ? { kind: 'stopped', limit: 'memory' } : { kind: 'stuck' });
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#deps.done(this.#limit === undefined && !this.#isBroken);
  }

  /** The interpreter itself gave up, which it does when it finds no memory for what it must have. */
  #broken(error: unknown): void {
    this.#isBroken = true;
    if (this.#limit !== undefined) return;
    const text = error instanceof Error ? error.message : String(error);
    if (this.#guest.isExhausted || /memory|alloc/i.test(text)) this.#limit = 'memory';
    else this.#end({ kind: 'thrown', name: 'InternalError', message: text.slice(0, 500) });
  }

  /** The first end counts. */
  #end(outcome: Outcome): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    this.#deps.post({ kind: 'ended', outcome });
  }

  #isOver(): boolean {
    if (this.#limit === undefined && this.#clock.usedMs > this.#limits.cpuMs) this.#limit = 'cpu';
    return this.#limit !== undefined;
  }

  #call(
    id: number,
    call: { readonly server?: string; readonly tool: string; readonly args: string; readonly raw: boolean },
  ): string | undefined {
    if (this.#limit !== undefined) return undefined;
    this.#calls += 1;
    if (this.#calls > this.#limits.maxCalls) {
      this.#limit = 'calls';
      return undefined;
    }
    const chars = [...this.#pending.values()].reduce((sum, each) => sum + each, call.args.length);
    if (chars > MAX_ARGUMENTS)
      return `The arguments of the calls that run at the same time have ${chars} characters; ${MAX_ARGUMENTS} are the most.`;
    this.#pending.set(id, call.args.length);
    this.#deps.post({ kind: 'call', call: { id, ...call, args: this.#withNumbers(call.args) } });
    return undefined;
  }

  #log(text: string): boolean {
    const room = this.#limits.maxOutput - this.#logged;
    this.#lines += 1;
    const isCut = text.length > room || this.#lines > MAX_LOG_LINES;
    this.#deps.post({ kind: 'log', text: isCut ? text.slice(0, Math.max(0, room)) : text, isCut });
    this.#logged += text.length + 1;
    return isCut;
  }

  #timer(id: number, ms: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    if (!(ms >= 0) || this.#timers.size >= MAX_TIMERS) return;
    const fire = (): void => {
      this.#timers.delete(id);
      this.#turn(() => this.#guest.fire(id));
    };
    this.#timers.set(id, setTimeout(fire, Math.min(ms, MAX_TIMER_MS)));
  }

  #ended(kind: string, json: string): void {
    if (this.#limit !== undefined) return;
    if (kind === 'value') return this.#end(json === '' ? { kind } : { kind, json: this.#withNumbers(json) });
    const { name, message, stack } = JSON.parse(json) as Record<'name' | 'message' | 'stack', string>;
    if (name === 'InternalError' && message === 'out of memory') {
      this.#limit = 'memory';
      return;
    }
    const line = /\(?script:(\d+)/.exec(stack)?.[1];
    this.#end({ kind: 'thrown', name, message, ...(line === undefined ? {} : { line: Number(line) }) });
  }

  /** Whole numbers of any size were written as strings that only we know. */
  #withNumbers(json: string): string {
    return json.includes(this.#nonce)
      ? json.replaceAll(new RegExp(`"${this.#nonce}(-?\\d+)"`, 'g'), '$1')
      : json;
  }
}
