/** The few parts of WebAssembly that we use; Node's types name only some of them. */
interface Wasm {
  compile(bytes: Uint8Array): Promise<WasmModule>;
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => WasmMemory;
}

export interface WasmModule {
  readonly [Symbol.toStringTag]?: string;
}

export interface WasmMemory {
  readonly buffer: { readonly byteLength: number };
}

export function wasm(): Wasm {
  // Every Node that we run on has it.
  return (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly;
}
