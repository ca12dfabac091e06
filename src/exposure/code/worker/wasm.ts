/** The parts of WebAssembly that the sandbox uses. They are declared here because `@types/node` does not declare them. */
interface Wasm {
  compile(bytes: Uint8Array): Promise<WasmModule>;
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => WasmMemory;
}

/** A compiled module, which is only passed on. The optional member keeps TypeScript from accepting any value as a module. */
export interface WasmModule {
  readonly [Symbol.toStringTag]?: string;
}

export interface WasmMemory {
  readonly buffer: { readonly byteLength: number };
}

export function getWebAssembly(): Wasm {
  // The cast is safe, because every supported version of Node has WebAssembly.
  return (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly;
}
