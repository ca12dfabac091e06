/** Processes that are about to end, so that the next of the same server does not begin before. */
export class Endings {
  readonly #under = new Map<string, Set<Promise<void>>>();

  /** Resolves when it has ended, however that went. */
  async add(name: string, ending: Promise<void>): Promise<void> {
    const all = this.#under.get(name) ?? new Set();
    this.#under.set(name, all.add(ending));
    try {
      await ending;
    } catch {
      // What could not be ended is no reason to have none.
    } finally {
      all.delete(ending);
      if (all.size === 0) this.#under.delete(name);
    }
  }

  async of(name: string): Promise<void> {
    await Promise.allSettled([...(this.#under.get(name) ?? [])]);
  }
}
