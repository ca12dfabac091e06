import type { Sandbox } from './sandbox.ts';

interface LazySandboxOptions {
  readonly worker: URL;
  readonly memoryMb: number;
  readonly maxScripts: number;
  readonly now: () => number;
}

/** For each script that may run at the same time, this many scripts may be queued. */
const QUEUED_PER_SLOT = 16;

/** Loads the sandbox on first use, because most processes never run a script. */
export class LazySandbox implements AsyncDisposable {
  #options: LazySandboxOptions;
  #sandbox: Promise<Sandbox> | undefined;
  /** Sandboxes with earlier limits whose scripts are still running, each with the promise of its disposal. */
  readonly #retiring = new Map<Promise<Sandbox>, Promise<void>>();

  constructor(options: LazySandboxOptions) {
    this.#options = options;
  }

  get(): Promise<Sandbox> {
    return (this.#sandbox ??= import('./sandbox.ts').then(({ Sandbox: Loaded }) => {
      const { maxScripts } = this.#options;
      return new Loaded({ ...this.#options, maxWaiting: maxScripts * QUEUED_PER_SLOT });
    }));
  }

  /** Applies new limits to future scripts; running scripts keep theirs. */
  adjust({ maxScripts, memoryMb }: Pick<LazySandboxOptions, 'maxScripts' | 'memoryMb'>): void {
    this.#options = { ...this.#options, maxScripts, memoryMb };
    const previous = this.#sandbox;
    this.#sandbox = undefined;
    if (previous === undefined) return;
    const disposed = previous
      .then(async (sandbox) => {
        await sandbox.waitUntilIdle();
        await sandbox[Symbol.asyncDispose]();
      })
      .finally(() => this.#retiring.delete(previous));
    this.#retiring.set(previous, disposed);
  }

  /** Resolves once no script is running. */
  async waitUntilIdle(): Promise<void> {
    await Promise.all([...this.#all()].map(async (sandbox) => (await sandbox).waitUntilIdle()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#all()].map(async (sandbox) => (await sandbox)[Symbol.asyncDispose]()));
    await Promise.all(this.#retiring.values());
  }

  #all(): readonly Promise<Sandbox>[] {
    return [...(this.#sandbox === undefined ? [] : [this.#sandbox]), ...this.#retiring.keys()];
  }
}
