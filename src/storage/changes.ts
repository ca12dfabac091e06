import type { Kysely } from 'kysely';

import type { Tables } from './tables.ts';

/** What others keep a copy of in memory. */
export type Topic =
  | 'approvals'
  | 'browsers'
  | 'keys'
  | 'listings'
  | 'replicas'
  | 'sessions'
  | 'sign-ins'
  | 'tokens'
  | 'runtime-servers';

/** How processes on one database learn of each other's changes: they are told the topic, and read. */
export interface Changes {
  /** Called with the transaction of the change itself, so that both are there or neither. */
  announce(transaction: Kysely<Tables>, topic: Topic): Promise<void>;
  /** Told after each change of another process, and whenever some may have been missed; must not reject. */
  on(topic: Topic, listener: () => void): Disposable;
}

/** Counts the change, and gives the new count. */
export async function countChange(transaction: Kysely<Tables>, topic: Topic): Promise<number> {
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

/** Who listens to what, and which counts were seen; when to look is up to its owner. */
export class TopicWatch {
  readonly #listeners = new Map<Topic, Set<() => void>>();
  #seen: ReadonlyMap<string, number> = new Map();

  on(topic: Topic, listener: () => void): Disposable {
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

  /** Takes the counts of now; every topic with another count than before is told. */
  take(rows: readonly Tables['changes'][]): void {
    const before = this.#seen;
    this.#seen = new Map(rows.map(({ topic, revision }) => [topic, revision]));
    for (const [topic, listeners] of this.#listeners)
      if (this.#seen.get(topic) !== before.get(topic)) for (const listener of [...listeners]) listener();
  }

  /** Something may have been missed. */
  tellAll(): void {
    for (const listeners of this.#listeners.values()) for (const listener of [...listeners]) listener();
  }
}
