import type { Others } from '../../src/downstream/sessions/between/others.ts';
import { GatewayError } from '../../src/model/errors.ts';

type Answerer = Parameters<Others['answer']>[1];

/** Gateways that reach each other without sockets; one that is dead answers nobody. */
export class MemoryOthers {
  readonly dead = new Set<string>();
  readonly #names: readonly string[];
  readonly #answerers = new Map<string, Map<string, Answerer>>();
  readonly #listeners = new Set<() => void>();

  constructor(...names: readonly string[]) {
    this.#names = names;
    for (const name of names) this.#answerers.set(name, new Map());
  }

  /** What one of them sees of the others. */
  as(self: string): Others {
    return {
      self,
      all: () => this.#names.filter((name) => name !== self && !this.dead.has(name)),
      ask: async (to, subject, body, { signal = new AbortController().signal } = {}) => {
        const answerer = this.#answerers.get(to)?.get(subject);
        if (this.dead.has(to) || answerer === undefined)
          throw new GatewayError('REPLICA_AWAY', 'It is gone.');
        return structuredClone(await answerer(structuredClone(body), { from: self, signal }));
      },
      answer: (subject, answerer) => {
        this.#answerers.get(self)?.set(subject, answerer);
        return { [Symbol.dispose]: () => void this.#answerers.get(self)?.delete(subject) };
      },
    };
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** It dies, or lives again; everybody notices. */
  set(name: string, isAlive: boolean): void {
    if (isAlive) this.dead.delete(name);
    else this.dead.add(name);
    for (const listener of this.#listeners) listener();
  }
}
