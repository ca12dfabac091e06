/** The resource limits of one script. */
export interface ScriptLimits {
  /** The maximum duration, including waits for calls but not the time in which a person answers a question. */
  readonly timeoutMs: number;
  /** The maximum CPU time of the script itself. */
  readonly cpuMs: number;
  /** The maximum memory of the interpreter, in MiB. */
  readonly memoryMb: number;
  readonly maxCalls: number;
  /** The maximum characters of the result, and separately of the log. */
  readonly maxOutput: number;
}

/** The limit that stopped a script. */
export type ScriptLimit = 'time' | 'cpu' | 'memory' | 'calls';

export type ScriptOutcome =
  /** `json` is the return value; absent if the script returned nothing. */
  | { readonly kind: 'value'; readonly json?: string }
  | {
      readonly kind: 'thrown';
      readonly name: string;
      readonly message: string;
      readonly line?: number | undefined;
    }
  /** The script waits for a promise that nothing will settle. */
  | { readonly kind: 'stuck' }
  | { readonly kind: 'stopped'; readonly limit: ScriptLimit };

/** A tool call of a script. All fields come from the script and are untrusted. */
export interface ScriptCall {
  readonly id: number;
  /** Absent if the script used the exposed name. */
  readonly server?: string | undefined;
  readonly tool: string;
  /** The arguments as JSON. */
  readonly args: string;
  /** Whether the script wants the unchanged MCP result. */
  readonly raw: boolean;
}

export type ScriptCallAnswer =
  /** `isMarked`: numbers that JavaScript cannot represent are in the JSON as marked strings. */
  ({ readonly kind: 'value' } & ScriptData) | { readonly kind: 'error'; readonly json: string };

/** A value for a script, as JSON; see `isMarked` of `ScriptCallAnswer`. */
export interface ScriptData {
  readonly json: string;
  readonly isMarked: boolean;
}

export type MessageToWorker =
  | {
      readonly kind: 'run';
      readonly source: string;
      /** JSON of the tools' names by server, for scripts that list them. */
      readonly names: string;
      readonly limits: ScriptLimits;
      readonly clock: SharedArrayBuffer;
      /** The value of the global `data`. With it, the source is an expression if it can be one. */
      readonly data?: ScriptData | undefined;
    }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: ScriptCallAnswer };

export type MessageFromWorker =
  | { readonly kind: 'call'; readonly call: ScriptCall }
  | { readonly kind: 'log'; readonly text: string; readonly isCut: boolean }
  /** The script has ended, although calls that it did not await may still run. */
  | { readonly kind: 'ended'; readonly outcome: ScriptOutcome }
  /** The script and all its calls have ended. */
  | { readonly kind: 'done'; readonly isReusable: boolean };

/**
 * Measures the CPU time of a script in memory that both threads share. Cell 0 is the time at which the current turn began, cell 1 the
 * milliseconds that earlier turns used. A turn is one uninterrupted run of the script.
 */
export class SharedCpuClock {
  readonly #cells: Int32Array<SharedArrayBuffer>;
  readonly #now: () => number;

  /** `now` must be the same monotonic clock in both threads. */
  constructor(buffer: SharedArrayBuffer, now: () => number) {
    this.#cells = new Int32Array(buffer);
    this.#now = now;
  }

  static buffer(): SharedArrayBuffer {
    return new SharedArrayBuffer(8);
  }

  begin(): void {
    // 0 means that no turn is running, so a start time of 0 becomes 1.
    Atomics.store(this.#cells, 0, this.#time() || 1);
  }

  end(): void {
    const used = this.usedMs;
    // In this order, a reader between the two stores misses the turn; in the other order it would count the turn twice.
    Atomics.store(this.#cells, 0, 0);
    Atomics.store(this.#cells, 1, used);
  }

  get usedMs(): number {
    const startedAt = Atomics.load(this.#cells, 0);
    const usedBefore = Atomics.load(this.#cells, 1);
    return startedAt === 0 ? usedBefore : usedBefore + Math.max(0, this.#time() - startedAt);
  }

  /** Returns the lowest 31 bits of the time in milliseconds, which fit into a cell and suffice for differences. */
  #time(): number {
    return this.#now() & 0x7fffffff;
  }
}
