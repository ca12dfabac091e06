import { newQuickJSWASMModuleFromVariant, newVariant } from 'quickjs-emscripten-core';
import type {
  CustomizeVariantOptions,
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
} from 'quickjs-emscripten-core';
import quickjs from '@jitl/quickjs-wasmfile-release-sync';
import type { ScriptData } from '../worker-messages.ts';
import type { CompileError } from './compile-script.ts';
import { PRELUDE } from './prelude.ts';
import { getWebAssembly } from './wasm.ts';
import type { WasmMemory, WasmModule } from './wasm.ts';

/** Functions that the script can call. All arguments come from the script and are untrusted. */
export interface InterpreterHost {
  /** Starts a call; returns an error message if the call is rejected. */
  call(
    id: number,
    call: { server?: string | undefined; tool: string; args: string; raw: boolean },
  ): string | undefined;
  /** Returns true if no further lines are accepted. */
  log(text: string): boolean;
  /** Returns JSON of the tools' names by server. */
  names(): string;
  /** Returns the value of the global `data`, if there is one. */
  data(): ScriptData | undefined;
  /** Schedules `fire` after this time; a negative time cancels it. */
  timer(id: number, ms: number): void;
  /** Reports the end of the script: `value` with its result as JSON (empty for none), or `thrown` with the error as JSON. */
  ended(kind: string, json: string): void;
  /** Polled while the script computes; returning true stops the script. */
  isOverLimit(): boolean;
}

/** Must be smaller than the stack of the thread (`STACK_MB`): if that overflowed first, the interpreter's state would be undefined. */
const STACK_BYTES = 512 * 1024;
// Flags of `JS_Eval` in QuickJS.
const ASYNC = 1 << 7;
const COMPILE_ONLY = 1 << 5;
/** The file name in stack traces, from which `Script` reads the line of an error. */
const FILE = 'script';
const JOBS_AT_ONCE = 1000;
const PAGE_BYTES = 64 * 1024;
/** The initial memory that the interpreter's WebAssembly file declares. */
const INITIAL_PAGES = 256;

/** One QuickJS interpreter with its own memory. It is not disposed but left to the garbage collector. */
export class ScriptInterpreter {
  readonly #memory: WasmMemory;
  readonly #maxBytes: number;
  readonly #runtime: QuickJSRuntime;
  readonly #vm: QuickJSContext;
  #functions: Record<'settle' | 'fire' | 'watch', QuickJSHandle> | undefined;

  private constructor(runtime: QuickJSRuntime, memory: WasmMemory, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#runtime = runtime;
    this.#memory = memory;
    this.#vm = runtime.newContext();
  }

  static async create(wasmModule: WasmModule, maxBytes: number): Promise<ScriptInterpreter> {
    // In this build, the interpreter's own limit counts blocks but not their sizes, so the size of the memory is the limit.
    const memory = new (getWebAssembly().Memory)({
      initial: INITIAL_PAGES,
      maximum: Math.floor(maxBytes / PAGE_BYTES),
    });
    const silent = (): void => {};
    // Node's types lack parts of WebAssembly, so ours replace them.
    const options = {
      wasmModule,
      wasmMemory: memory,
      emscriptenModule: { print: silent, printErr: silent },
    } as unknown as CustomizeVariantOptions;
    // The types describe the CommonJS form of the package, which has the variant in `default`.
    const variant = quickjs as unknown as typeof quickjs.default;
    const quickjsModule = await newQuickJSWASMModuleFromVariant(newVariant(variant, options));
    return new ScriptInterpreter(quickjsModule.newRuntime(), memory, maxBytes);
  }

  /** The size of its memory, which never shrinks. */
  get bytes(): number {
    return this.#memory.buffer.byteLength;
  }

  /** Whether more than 90 % of the memory is in use. Some errors without a clear cause are then due to lack of memory. */
  get isExhausted(): boolean {
    return this.bytes > 0.9 * this.#maxBytes;
  }

  /** Runs the prelude, which defines the globals of scripts. JSON has no BigInt, so a BigInt becomes a string of `nonce` and its digits. */
  open(host: InterpreterHost, nonce: string): void {
    const vm = this.#vm;
    this.#runtime.setMaxStackSize(STACK_BYTES);
    this.#runtime.setInterruptHandler(() => host.isOverLimit());
    const text = (handle: QuickJSHandle | undefined): string =>
      handle === undefined ? '' : vm.getString(handle);
    const number = (handle: QuickJSHandle | undefined): number =>
      handle === undefined ? 0 : vm.getNumber(handle);
    const data = host.data();
    const hostFunctions: readonly QuickJSHandle[] = [
      vm.newFunction('call', (id, server, tool, args, raw) => {
        const isNamed = server !== undefined && vm.typeof(server) === 'string';
        const problem = host.call(number(id), {
          server: isNamed ? text(server) : undefined,
          tool: text(tool),
          args: text(args),
          raw: number(raw) === 1,
        });
        return problem === undefined ? vm.undefined : vm.newString(problem);
      }),
      vm.newFunction('log', (line) => vm.newNumber(host.log(text(line)) ? 1 : 0)),
      vm.newFunction('names', () => vm.newString(host.names())),
      vm.newFunction('timer', (id, ms) => host.timer(number(id), number(ms))),
      vm.newFunction('ended', (kind, json) => host.ended(text(kind), text(json))),
      vm.newString(nonce),
      data === undefined ? vm.undefined : vm.newString(data.json),
      vm.newNumber(data?.isMarked === true ? 1 : 0),
    ];
    const prelude = vm.unwrapResult(vm.evalCode(PRELUDE, 'prelude'));
    const scriptFunctions = vm.unwrapResult(vm.callFunction(prelude, vm.undefined, ...hostFunctions));
    this.#functions = {
      settle: vm.getProp(scriptFunctions, 'settle'),
      fire: vm.getProp(scriptFunctions, 'fire'),
      watch: vm.getProp(scriptFunctions, 'watch'),
    };
  }

  /** Compiles a source without running it; returns the error, if any. */
  check(source: string): CompileError | undefined {
    const evaluated = this.#vm.evalCode(source, FILE, ASYNC | COMPILE_ONLY);
    if (evaluated.error === undefined) {
      evaluated.value.dispose();
      return undefined;
    }
    const error = this.#vm.dump(evaluated.error) as { name?: string; message?: string; lineNumber?: unknown };
    evaluated.error.dispose();
    const { lineNumber } = error;
    return {
      name: error.name ?? 'SyntaxError',
      message: error.message ?? 'The script cannot be parsed.',
      line: typeof lineNumber === 'number' ? lineNumber : undefined,
    };
  }

  /** Runs until the script waits for something. An error that it throws ends the script. */
  run(source: string, isScript: boolean): void {
    const vm = this.#vm;
    const evaluated = vm.evalCode(source, FILE, isScript ? ASYNC : 0);
    // A script that cannot start was stopped by a limit, or has an error that only evaluation finds.
    const promise = evaluated.error === undefined ? evaluated.value : this.#rejected(evaluated.error);
    this.#call('watch', promise, vm.newNumber(isScript && evaluated.error === undefined ? 1 : 0));
    this.#runJobs();
  }

  /** Settles the promise of a call and continues the script. */
  settle(id: number, isError: boolean, json: string, isMarked: boolean): void {
    const vm = this.#vm;
    const flags = [isError, isMarked].map((flag) => vm.newNumber(flag ? 1 : 0)) as [
      QuickJSHandle,
      QuickJSHandle,
    ];
    this.#call('settle', vm.newNumber(id), flags[0], vm.newString(json), flags[1]);
    this.#runJobs();
  }

  fire(id: number): void {
    this.#call('fire', this.#vm.newNumber(id));
    this.#runJobs();
  }

  #rejected(error: QuickJSHandle): QuickJSHandle {
    const { handle, reject } = this.#vm.newPromise();
    reject(error);
    return handle;
  }

  #call(name: 'settle' | 'fire' | 'watch', ...args: readonly QuickJSHandle[]): void {
    const target = this.#functions?.[name];
    if (target === undefined) throw new Error('The interpreter is not open.');
    const called = this.#vm.callFunction(target, this.#vm.undefined, ...args);
    // An error is ignored: it comes from a timer callback, which nothing awaits, or from a script that was
    // stopped.
    if (called.error !== undefined) called.error.dispose();
    else called.value.dispose();
    for (const handle of args) handle.dispose();
  }

  /** Runs pending promise reactions until none is left. */
  #runJobs(): void {
    for (;;) {
      const done = this.#runtime.executePendingJobs(JOBS_AT_ONCE);
      // Only a limit interrupts a job, and `Script` has recorded which.
      if (done.error !== undefined) return done.error.dispose();
      if (done.value === 0) return;
    }
  }
}
