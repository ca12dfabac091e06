/** Closes what was created into it, in reverse order, all of it even if one close fails, and only once. */
export class Scope implements AsyncDisposable {
  readonly #closers: (() => void | Promise<void>)[] = [];
  readonly #onError: (error: unknown) => void;
  #closing: Promise<void> | undefined;

  constructor(onError: (error: unknown) => void = () => {}) {
    this.#onError = onError;
  }

  use<T extends AsyncDisposable>(resource: T): T {
    this.defer(async () => {
      await resource[Symbol.asyncDispose]();
    });
    return resource;
  }

  defer(close: () => void | Promise<void>): void {
    this.#closers.push(close);
    // What is created while everything closes must not stay open.
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
