import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { ScriptCallAnswer, ScriptCall, ScriptLimits } from '../../src/exposure/code/worker-messages.ts';
import { Sandbox } from '../../src/exposure/code/sandbox.ts';
import type { ScriptResult } from '../../src/exposure/code/script-run.ts';
import { Cancellation } from '../../src/core/lib/cancellation.ts';
import { monotonicNow } from '../../src/core/lib/monotonic-now.ts';

const root = join(import.meta.dirname, '..', '..');

const limits: ScriptLimits = {
  // High, because the limits are wall-clock times and the machine may be busy.
  timeoutMs: 90_000,
  cpuMs: 60_000,
  memoryMb: 32,
  maxCalls: 50,
  maxOutput: 10_000,
};

/** Runs scripts in the built worker thread, with calls that the test answers. */
export class ScriptRunner implements AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly calls: ScriptCall[] = [];

  constructor(
    options: { readonly maxScripts?: number; readonly maxWaiting?: number; readonly worker?: URL } = {},
  ) {
    this.sandbox = new Sandbox({
      worker: options.worker ?? pathToFileURL(join(root, 'dist', 'code-worker.js')),
      memoryMb: limits.memoryMb,
      maxScripts: options.maxScripts ?? 2,
      maxWaiting: options.maxWaiting ?? 10,
      now: monotonicNow,
    });
  }

  run(
    source: string,
    options: {
      readonly limits?: Partial<ScriptLimits>;
      readonly call?: (call: ScriptCall) => Promise<ScriptCallAnswer>;
      readonly names?: Readonly<Record<string, readonly string[]>>;
      readonly cancellation?: Cancellation;
    } = {},
  ): Promise<ScriptResult> {
    const { call = (made) => Promise.resolve(scriptValue(JSON.parse(made.args))) } = options;
    return this.sandbox.run(
      {
        source,
        names: JSON.stringify(options.names ?? {}),
        limits: { ...limits, ...options.limits },
        call: (made) => {
          this.calls.push(made);
          return call(made);
        },
      },
      { cancellation: options.cancellation ?? new Cancellation() },
    );
  }

  /** Returns the value of the script, or its outcome if it did not return one. */
  async value(source: string, options: Parameters<ScriptRunner['run']>[1] = {}): Promise<unknown> {
    const { outcome } = await this.run(source, options);
    if (outcome.kind === 'value') return outcome.json === undefined ? undefined : JSON.parse(outcome.json);
    return outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sandbox[Symbol.asyncDispose]();
  }
}

export function scriptValue(given: unknown): ScriptCallAnswer {
  return { kind: 'value', json: JSON.stringify(given), isMarked: false };
}
