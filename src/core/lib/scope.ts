/** Owns resources and closes each of them once, in reverse order. If closing one fails, the others are still closed. */
export class Scope implements AsyncDisposable {
  readonly #closers: (() => void | Promise<void>)[] = [];
  readonly #onError: (error: unknown) => void;
  #closing: Promise<void> | undefined;

  constructor(onError: (error: unknown) => void = () => {}) {
    this.#onError = onError;
  }

  /** Disposes the resource when the scope closes, and returns it. */
  use<T extends AsyncDisposable>(resource: T): T {
    this.defer(async () => {
      await resource[Symbol.asyncDispose]();
    });
    return resource;
  }

  /** Calls the function when the scope closes. */
  defer(close: () => void | Promise<void>): void {
    this.#closers.push(close);
    // A resource that is added while the scope closes must not stay open.
    if (this.#closing !== undefined) this.#closing = this.#closing.then(() => this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
