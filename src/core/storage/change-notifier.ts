import type { Kysely } from 'kysely';

import type { Tables } from './tables.ts';

/** A kind of data that other processes cache in memory. */
export type ChangeTopic =
  | 'approvals'
  | 'browsers'
  | 'keys'
  | 'listings'
  | 'replicas'
  | 'sessions'
  | 'sign-ins'
  | 'tokens'
  | 'runtime-servers';

/** Notifies the processes that share a database of each other's changes. A listener only learns the topic, and reads the data again. */
export interface ChangeNotifier {
  /** Announces a change in the transaction that makes it, so that both are committed or neither. */
  announce(transaction: Kysely<Tables>, topic: ChangeTopic): Promise<void>;
  /**
   * Calls the listener after changes by other processes, sometimes also after those of this process, and whenever notifications may have
   * been missed. The listener must not throw.
   */
  on(topic: ChangeTopic, listener: () => void): Disposable;
}

/** Increments the change counter of a topic and returns it. */
export async function incrementChangeCounter(
  transaction: Kysely<Tables>,
  topic: ChangeTopic,
): Promise<number> {
  const { revision } = await transaction
    .insertInto('changes')
    .values({ topic, revision: 1 })
    .onConflict((conflict) =>
      conflict.column('topic').doUpdateSet(({ eb }) => ({ revision: eb('changes.revision', '+', 1) })),
    )
    .returning('revision')
    .executeTakeFirstOrThrow();
  return revision;
}

/** Tracks the listeners of each topic, and the counters that were last read. Its user decides when to read the counters. */
export class TopicListeners {
  readonly #listeners = new Map<ChangeTopic, Set<() => void>>();
  #seen: ReadonlyMap<string, number> = new Map();

  on(topic: ChangeTopic, listener: () => void): Disposable {
    const all = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, all.add(listener));
    return {
      [Symbol.dispose]: () => {
        all.delete(listener);
        if (all.size === 0 && this.#listeners.get(topic) === all) this.#listeners.delete(topic);
      },
    };
  }

  get isUsed(): boolean {
    return this.#listeners.size > 0;
  }

  /** Stores the current counters and notifies the listeners of every topic whose counter changed. */
  take(rows: readonly Tables['changes'][]): void {
    const before = this.#seen;
    this.#seen = new Map(rows.map(({ topic, revision }) => [topic, revision]));
    for (const [topic, listeners] of this.#listeners)
      if (this.#seen.get(topic) !== before.get(topic)) for (const listener of [...listeners]) listener();
  }

  /** Notifies all listeners, because notifications may have been missed. */
  notifyAll(): void {
    for (const listeners of this.#listeners.values()) for (const listener of [...listeners]) listener();
  }
}
