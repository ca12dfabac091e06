import { newQuickJSWASMModuleFromVariant, newVariant } from 'quickjs-emscripten-core';
import type {
  CustomizeVariantOptions,
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
} from 'quickjs-emscripten-core';
import quickjs from '@jitl/quickjs-wasmfile-release-sync';
import type { Mistake } from './compile.ts';
import { PRELUDE } from './prelude.ts';
import { wasm } from './wasm.ts';
import type { WasmMemory, WasmModule } from './wasm.ts';

/** Functions that the script's side may call; all arguments were made by the script. */
export interface Host {
  /** What is wrong with it, if it is not made. */
  call(id: number, call: { server?: string; tool: string; args: string; raw: boolean }): string | undefined;
  /** Whether no more is wanted. */
  log(text: string): boolean;
  names(): string;
  /** Wants `fire` after this time; less than nothing takes the wish back. */
  timer(id: number, ms: number): void;
  ended(kind: string, json: string): void;
  /** Asked again and again while the script computes; ends it. */
  isOver(): boolean;
}

/** With less than the thread has, or the host's stack would overflow first and leave the interpreter in pieces. */
const STACK_BYTES = 512 * 1024;
const ASYNC = 1 << 7;
const COMPILE_ONLY = 1 << 5;
const FILE = 'script';
const JOBS_AT_ONCE = 1000;
const PAGE_BYTES = 64 * 1024;
/** What the interpreter's file asks for. */
const INITIAL_PAGES = 256;

/** One interpreter in memory of its own. It is never taken apart: whoever has done with it drops it. */
export class Guest {
  readonly #memory: WasmMemory;
  readonly #maxBytes: number;
  readonly #runtime: QuickJSRuntime;
  readonly #vm: QuickJSContext;
  #own: Record<'settle' | 'fire' | 'watch', QuickJSHandle> | undefined;

  private constructor(runtime: QuickJSRuntime, memory: WasmMemory, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#runtime = runtime;
    this.#memory = memory;
    this.#vm = runtime.newContext();
  }

  static async create(wasmModule: WasmModule, maxBytes: number): Promise<Guest> {
    // The interpreter's own limit counts blocks but not their sizes in this build; what holds is the size of the memory itself.
    const memory = new (wasm().Memory)({
      initial: INITIAL_PAGES,
      maximum: Math.floor(maxBytes / PAGE_BYTES),
    });
    const silent = (): void => {};
    // Node's types do not name all of WebAssembly, so that ours stand in for them.
    const options = {
      wasmModule,
      wasmMemory: memory,
      emscriptenModule: { print: silent, printErr: silent },
    } as unknown as CustomizeVariantOptions;
    // The types describe the package's CommonJS form, which hides it in a member.
    const variant = quickjs as unknown as typeof quickjs.default;
    const made = await newQuickJSWASMModuleFromVariant(newVariant(variant, options));
    return new Guest(made.newRuntime(), memory, maxBytes);
  }

  /** What it has taken, which it never gives back. */
  get bytes(): number {
    return this.#memory.buffer.byteLength;
  }

  /** Whether it has nearly all that it may have, so that things go wrong that otherwise never do. */
  get isExhausted(): boolean {
    return this.bytes > 0.9 * this.#maxBytes;
  }

  open(host: Host, nonce: string): void {
    const vm = this.#vm;
    this.#runtime.setMaxStackSize(STACK_BYTES);
    this.#runtime.setInterruptHandler(() => host.isOver());
    const text = (handle: QuickJSHandle | undefined): string =>
      handle === undefined ? '' : vm.getString(handle);
    const number = (handle: QuickJSHandle | undefined): number =>
      handle === undefined ? 0 : vm.getNumber(handle);
    const functions: readonly QuickJSHandle[] = [
      vm.newFunction('call', (id, server, tool, args, raw) => {
        const isNamed = server !== undefined && vm.typeof(server) === 'string';
        const problem = host.call(number(id), {
          ...(isNamed && { server: text(server) }),
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
    ];
    const prelude = vm.unwrapResult(vm.evalCode(PRELUDE, 'prelude'));
    const own = vm.unwrapResult(vm.callFunction(prelude, vm.undefined, ...functions));
    this.#own = {
      settle: vm.getProp(own, 'settle'),
      fire: vm.getProp(own, 'fire'),
      watch: vm.getProp(own, 'watch'),
    };
  }

  check(source: string): Mistake | undefined {
    const made = this.#vm.evalCode(source, FILE, ASYNC | COMPILE_ONLY);
    if (made.error === undefined) {
      made.value.dispose();
      return undefined;
    }
    const mistake = this.#vm.dump(made.error) as { name?: string; message?: string; lineNumber?: unknown };
    made.error.dispose();
    const { lineNumber } = mistake;
    return {
      name: mistake.name ?? 'SyntaxError',
      message: mistake.message ?? 'It cannot be read.',
      ...(typeof lineNumber === 'number' && { line: lineNumber }),
    };
  }

  /** Runs until the script waits for something. What it throws becomes its end. */
  run(source: string, isScript: boolean): void {
    const vm = this.#vm;
    const made = vm.evalCode(source, FILE, isScript ? ASYNC : 0);
    // A script that cannot even begin was stopped by a limit, or is wrong in a way that only shows now.
    const promise = made.error === undefined ? made.value : this.#rejected(made.error);
    this.#call('watch', promise, vm.newNumber(isScript && made.error === undefined ? 1 : 0));
    this.#runJobs();
  }

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
    const own = this.#own?.[name];
    if (own === undefined) throw new Error('The interpreter is not open.');
    const called = this.#vm.callFunction(own, this.#vm.undefined, ...args);
    // Thrown by the callback of a timer, where nobody waits for it; or the end of a script that was stopped.
    if (called.error !== undefined) called.error.dispose();
    else called.value.dispose();
    for (const each of args) each.dispose();
  }

  #runJobs(): void {
    for (;;) {
      const done = this.#runtime.executePendingJobs(JOBS_AT_ONCE);
      // Only a limit ends a job like this, and whoever set it knows.
      if (done.error !== undefined) return done.error.dispose();
      if (done.value === 0) return;
    }
  }
}
