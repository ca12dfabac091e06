import type { Emitter } from '../../core/lib/emitter.ts';
import type { ChangeNotifier } from '../../core/storage/change-notifier.ts';
import type { Logger } from '../../observability/log.ts';
import { matchesHash, parseSecret } from './issued-secret.ts';
import { KEY_PREFIX, keyCallerId } from './key-store.ts';
import type { KeyStore, StoredKey } from './key-store.ts';

interface KeyCacheDeps {
  readonly store: KeyStore;
  /** Receives the caller id of each key that was revoked, by this process or another one. */
  readonly events: Emitter<{ gone: string }>;
  readonly now: () => number;
  readonly log: Logger;
  readonly changes: ChangeNotifier;
}

/** Interval between writes of the times at which keys were last used. */
const SAVE_LAST_USED_MS = 30_000;

/** Keeps all keys in memory and follows changes of the database, so that the verification of a key needs no query. */
export class KeyCache implements AsyncDisposable {
  readonly #deps: KeyCacheDeps;
  readonly #lastUsed = new Map<string, number>();
  #keys = new Map<string, StoredKey>();
  #subscription: Disposable | undefined;
  #saveTimer: NodeJS.Timeout | undefined;
  #refreshing: Promise<void> | undefined;

  private constructor(deps: KeyCacheDeps) {
    this.#deps = deps;
  }

  static async open(deps: KeyCacheDeps): Promise<KeyCache> {
    const cache = new KeyCache(deps);
    const logFailure = (task: () => Promise<void>) => (): void => {
      task().catch((error: unknown) => {
        deps.log.warn('Keys cannot be read or written now.', { reason: String(error) });
      });
    };
    // Subscribing before the first read leaves no gap in which a change could be missed.
    cache.#subscription = deps.changes.on(
      'keys',
      logFailure(() => cache.refresh()),
    );
    await cache.refresh();
    cache.#saveTimer = setInterval(
      logFailure(() => cache.saveLastUsed()),
      SAVE_LAST_USED_MS,
    ).unref();
    return cache;
  }

  /** Returns the key with this text, or undefined if it is wrong, revoked or expired. */
  find(text: string): StoredKey | undefined {
    const secret = parseSecret(KEY_PREFIX, text);
    if (secret === undefined) return undefined;
    const key = this.#keys.get(secret.id);
    return matchesHash(secret, key?.hash) && key !== undefined && this.#isLive(key) ? key : undefined;
  }

  findById(id: string): StoredKey | undefined {
    const key = this.#keys.get(id);
    return key !== undefined && this.#isLive(key) ? key : undefined;
  }

  /** Remembers the time of use, which `saveLastUsed` writes later. A crash may lose this time. */
  recordUse(id: string): void {
    this.#lastUsed.set(id, this.#deps.now());
  }

  /** Reads all keys again. Waits for a read in progress first, because that read may return older data. */
  async refresh(): Promise<void> {
    const previous = this.#refreshing;
    const own = (async () => {
      await previous?.catch(() => {}); // The caller of that read gets the error.
      await this.#readKeys();
    })();
    this.#refreshing = own;
    try {
      await own;
    } finally {
      if (this.#refreshing === own) this.#refreshing = undefined;
    }
  }

  /** Writes the times of use now; also called before keys are listed. */
  async saveLastUsed(): Promise<void> {
    if (this.#lastUsed.size === 0) return;
    const times = new Map(this.#lastUsed);
    this.#lastUsed.clear();
    await this.#deps.store.saveLastUsed(times);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription?.[Symbol.dispose]();
    clearInterval(this.#saveTimer);
    await this.saveLastUsed().catch(() => {}); // Best effort: the time of the last use is informational.
  }

  async #readKeys(): Promise<void> {
    const previous = this.#keys;
    // A key never changes. Its object is reused, because other code caches data by the identity of the object.
    this.#keys = new Map((await this.#deps.store.list()).map((key) => [key.id, previous.get(key.id) ?? key]));
    for (const [id, key] of previous)
      if (!this.#keys.has(id)) this.#deps.events.emit('gone', keyCallerId(key));
  }

  #isLive({ expiresAt }: StoredKey): boolean {
    return expiresAt === undefined || expiresAt > this.#deps.now();
  }
}
