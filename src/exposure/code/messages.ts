/** What one script may use up. */
export interface ScriptLimits {
  /** From its start to its end, waiting included; a person who thinks about a question does not count. */
  readonly timeoutMs: number;
  /** That it computes by itself. */
  readonly cpuMs: number;
  readonly memoryMb: number;
  readonly maxCalls: number;
  /** Characters of its result, and as many of what it logs. */
  readonly maxOutput: number;
}

/** Which limit ended a script. */
export type Limit = 'time' | 'cpu' | 'memory' | 'calls';

export type Outcome =
  /** JSON of what it returned; absent when it returned nothing. */
  | { readonly kind: 'value'; readonly json?: string }
  | { readonly kind: 'thrown'; readonly name: string; readonly message: string; readonly line?: number }
  /** It waits for a promise that nothing will settle. */
  | { readonly kind: 'stuck' }
  | { readonly kind: 'stopped'; readonly limit: Limit };

/** A call that a script makes. Everything in it was made by the script. */
export interface ScriptCall {
  readonly id: number;
  /** Absent when the script used the exposed name. */
  readonly server?: string;
  readonly tool: string;
  /** JSON. */
  readonly args: string;
  /** Whether it wants the result as MCP has it. */
  readonly raw: boolean;
}

export type Answer =
  /** JSON; `isMarked` when numbers that JavaScript cannot hold are in it as marked strings. */
  | { readonly kind: 'value'; readonly json: string; readonly isMarked: boolean }
  | { readonly kind: 'error'; readonly json: string };

export type ToWorker =
  | {
      readonly kind: 'run';
      readonly source: string;
      /** JSON of the tools' names by server, for scripts that list them. */
      readonly names: string;
      readonly limits: ScriptLimits;
      readonly clock: SharedArrayBuffer;
    }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer };

export type FromWorker =
  | { readonly kind: 'call'; readonly call: ScriptCall }
  | { readonly kind: 'log'; readonly text: string; readonly isCut: boolean }
  /** The script is over, though calls that it did not wait for are not. */
  | { readonly kind: 'ended'; readonly outcome: Outcome }
  /** Nothing of the script is left. */
  | { readonly kind: 'done'; readonly isReusable: boolean };

/** What both threads see of the time that a script computes, without a message: when it began, and what was used before. */
export class SharedClock {
  readonly #cells: Int32Array<SharedArrayBuffer>;
  readonly #now: () => number;

  /** `now` must be the same in both threads, and nobody may set it. */
  constructor(buffer: SharedArrayBuffer, now: () => number) {
    this.#cells = new Int32Array(buffer);
    this.#now = now;
  }

  static buffer(): SharedArrayBuffer {
    return new SharedArrayBuffer(8);
  }

  begin(): void {
    // Never 0, which means that nothing runs; 31 bits of milliseconds are enough for a difference.
    Atomics.store(this.#cells, 0, this.#time() || 1);
  }

  end(): void {
    const used = this.usedMs;
    Atomics.store(this.#cells, 0, 0);
    Atomics.store(this.#cells, 1, used);
  }

  get usedMs(): number {
    const began = Atomics.load(this.#cells, 0);
    const before = Atomics.load(this.#cells, 1);
    return began === 0 ? before : before + Math.max(0, this.#time() - began);
  }

  #time(): number {
    return this.#now() & 0x7fffffff;
  }
}
