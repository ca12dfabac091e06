/** The parts of WebAssembly that the sandbox uses; Node's types lack some of them. */
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

export function getWebAssembly(): Wasm {
  // Every supported version of Node has WebAssembly.
  return (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly;
}
