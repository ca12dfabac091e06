import type { ReplicaBus } from '../../src/core/replica-bus.ts';
import { GatewayError } from '../../src/core/errors.ts';

type RequestHandler = Parameters<ReplicaBus['onRequest']>[1];

/** Replicas in one process that send messages by function calls; a dead one answers no request. */
export class MemoryReplicas {
  readonly dead = new Set<string>();
  readonly #names: readonly string[];
  readonly #handlers = new Map<string, Map<string, RequestHandler>>();
  readonly #listeners = new Set<() => void>();

  constructor(...names: readonly string[]) {
    this.#names = names;
    for (const name of names) this.#handlers.set(name, new Map());
  }

  /** Returns the bus as this replica sees it. */
  as(self: string): ReplicaBus {
    return {
      self,
      others: () => this.#names.filter((name) => name !== self && !this.dead.has(name)),
      request: async (to, subject, body, { signal = new AbortController().signal } = {}) => {
        const handler = this.#handlers.get(to)?.get(subject);
        if (this.dead.has(to) || handler === undefined)
          throw new GatewayError('REPLICA_AWAY', 'The replica has stopped.');
        return structuredClone(await handler(structuredClone(body), { from: self, signal }));
      },
      onRequest: (subject, handler) => {
        this.#handlers.get(self)?.set(subject, handler);
        return { [Symbol.dispose]: () => void this.#handlers.get(self)?.delete(subject) };
      },
    };
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Stops or restarts a replica, and notifies the listeners. */
  set(name: string, isAlive: boolean): void {
    if (isAlive) this.dead.delete(name);
    else this.dead.add(name);
    for (const listener of this.#listeners) listener();
  }
}
