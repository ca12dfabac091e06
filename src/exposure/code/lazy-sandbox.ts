import type { Sandbox } from './sandbox.ts';

interface LazySandboxOptions {
  readonly worker: URL;
  readonly memoryMb: number;
  readonly maxScripts: number;
  readonly now: () => number;
}

/** Scripts that wait for their turn, for each that may run. */
const WAITING = 16;

/** Most processes never run a script, and load nothing for it. */
export class LazySandbox implements AsyncDisposable {
  readonly #options: LazySandboxOptions;
  #sandbox: Promise<Sandbox> | undefined;

  constructor(options: LazySandboxOptions) {
    this.#options = options;
  }

  get(): Promise<Sandbox> {
    return (this.#sandbox ??= import('./sandbox.ts').then(({ Sandbox: Loaded }) => {
      const { maxScripts } = this.#options;
      return new Loaded({ ...this.#options, maxWaiting: maxScripts * WAITING });
    }));
  }

  /** Resolves when no script runs. */
  async drained(): Promise<void> {
    await (await this.#sandbox)?.drained();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#sandbox)?.[Symbol.asyncDispose]();
  }
}
