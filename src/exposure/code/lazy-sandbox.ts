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
  #options: LazySandboxOptions;
  #sandbox: Promise<Sandbox> | undefined;
  readonly #leaving = new Map<Promise<Sandbox>, Promise<void>>();

  constructor(options: LazySandboxOptions) {
    this.#options = options;
  }

  get(): Promise<Sandbox> {
    return (this.#sandbox ??= import('./sandbox.ts').then(({ Sandbox: Loaded }) => {
      const { maxScripts } = this.#options;
      return new Loaded({ ...this.#options, maxWaiting: maxScripts * WAITING });
    }));
  }

  /** Scripts that begin from now on have other limits; those that run go on with theirs. */
  adjust({ maxScripts, memoryMb }: Pick<LazySandboxOptions, 'maxScripts' | 'memoryMb'>): void {
    this.#options = { ...this.#options, maxScripts, memoryMb };
    const before = this.#sandbox;
    this.#sandbox = undefined;
    if (before === undefined) return;
    const ended = before
      .then(async (sandbox) => {
        await sandbox.drained();
        await sandbox[Symbol.asyncDispose]();
      })
      .finally(() => this.#leaving.delete(before));
    this.#leaving.set(before, ended);
  }

  /** Resolves when no script runs. */
  async drained(): Promise<void> {
    await Promise.all([...this.#all()].map(async (sandbox) => (await sandbox).drained()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#all()].map(async (sandbox) => (await sandbox)[Symbol.asyncDispose]()));
    await Promise.all(this.#leaving.values());
  }

  #all(): readonly Promise<Sandbox>[] {
    return [...(this.#sandbox === undefined ? [] : [this.#sandbox]), ...this.#leaving.keys()];
  }
}
