import { sql } from 'kysely';
import type { Kysely } from 'kysely';

import { incrementChangeCounter, TopicListeners } from './change-notifier.ts';
import type { ChangeNotifier, ChangeTopic } from './change-notifier.ts';
import type { Tables } from './tables.ts';

const POLL_INTERVAL_MS = 250;

/** Polls `data_version`, a cheap way to find out whether another connection has written. Polls only while there are listeners. */
export class SqliteChangeNotifier implements ChangeNotifier, Disposable {
  readonly #query: Kysely<Tables>;
  readonly #listeners = new TopicListeners();
  readonly #intervalMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;
  #version: number | undefined;

  constructor(query: Kysely<Tables>, intervalMs = POLL_INTERVAL_MS) {
    this.#query = query;
    this.#intervalMs = intervalMs;
  }

  async announce(transaction: Kysely<Tables>, topic: ChangeTopic): Promise<void> {
    await incrementChangeCounter(transaction, topic);
  }

  on(topic: ChangeTopic, listener: () => void): Disposable {
    const listening = this.#listeners.on(topic, listener);
    this.#timer ??= setInterval(() => void this.#poll(), this.#intervalMs).unref();
    return {
      [Symbol.dispose]: () => {
        listening[Symbol.dispose]();
        if (!this.#listeners.isUsed) this[Symbol.dispose]();
      },
    };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      const { rows } = await sql<{ data_version: number }>`pragma data_version`.execute(this.#query);
      const version = rows[0]?.data_version;
      if (version === this.#version) return;
      const counts = await this.#query.selectFrom('changes').selectAll().execute();
      // The version is stored only after the counters were read, so that a failed read is repeated.
      this.#version = version;
      this.#listeners.take(counts);
    } catch {
      // The problem is reported by the queries that it affects, and the next poll tries again.
    } finally {
      this.#isPolling = false;
    }
  }
}
