import type { Emitter } from '../../lib/emitter.ts';
import type { Logger } from '../../observe/log.ts';
import type { Changes } from '../../storage/changes.ts';
import { KEY_PREFIX, callerId } from './key-store.ts';
import type { KeyStore, StoredKey } from './key-store.ts';
import { isSameSecret, readSecret } from './secret-text.ts';

interface RingDeps {
  readonly store: KeyStore;
  /** Told the caller whose key was revoked, here or by another process. */
  readonly events: Emitter<{ gone: string }>;
  readonly now: () => number;
  readonly log: Logger;
  readonly changes: Changes;
}

const SAVE_USE_EVERY_MS = 30_000;

/** The keys in memory, so that recognising one asks nobody; it follows the database. */
export class KeyRing implements AsyncDisposable {
  readonly #deps: RingDeps;
  readonly #used = new Map<string, number>();
  #keys = new Map<string, StoredKey>();
  #following: Disposable | undefined;
  #save: NodeJS.Timeout | undefined;
  #refreshing: Promise<void> | undefined;

  private constructor(deps: RingDeps) {
    this.#deps = deps;
  }

  static async open(deps: RingDeps): Promise<KeyRing> {
    const ring = new KeyRing(deps);
    const safely = (work: () => Promise<void>) => (): void => {
      work().catch((error: unknown) => {
        deps.log.warn('Keys cannot be read or written now.', { reason: String(error) });
      });
    };
    // Before the first look, so that nothing falls between.
    ring.#following = deps.changes.on(
      'keys',
      safely(() => ring.refresh()),
    );
    await ring.refresh();
    ring.#save = setInterval(
      safely(() => ring.saveUse()),
      SAVE_USE_EVERY_MS,
    ).unref();
    return ring;
  }

  /** The key that the text is; undefined for one that is wrong, revoked or over. */
  find(text: string): StoredKey | undefined {
    const shown = readSecret(KEY_PREFIX, text);
    if (shown === undefined) return undefined;
    const key = this.#keys.get(shown.id);
    return isSameSecret(shown, key?.hash) && key !== undefined && this.#isLive(key) ? key : undefined;
  }

  byId(id: string): StoredKey | undefined {
    const key = this.#keys.get(id);
    return key !== undefined && this.#isLive(key) ? key : undefined;
  }

  /** Written down later, since it is nobody's worry if it is lost. */
  noteUse(id: string): void {
    this.#used.set(id, this.#deps.now());
  }

  /** Takes over what the database says now; what was being read before may be older. */
  async refresh(): Promise<void> {
    const before = this.#refreshing;
    const own = (async () => {
      await before?.catch(() => {}); // Whoever began it is told.
      await this.#refresh();
    })();
    this.#refreshing = own;
    try {
      await own;
    } finally {
      if (this.#refreshing === own) this.#refreshing = undefined;
    }
  }

  /** Before somebody asks when keys were used. */
  async saveUse(): Promise<void> {
    if (this.#used.size === 0) return;
    const times = new Map(this.#used);
    this.#used.clear();
    await this.#deps.store.used(times);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#following?.[Symbol.dispose]();
    clearInterval(this.#save);
    await this.saveUse().catch(() => {}); // Best effort: when a key was last used is for information only.
  }

  async #refresh(): Promise<void> {
    const before = this.#keys;
    // Keys do not change, and one key stays one object, by which others remember what they know of it.
    this.#keys = new Map((await this.#deps.store.list()).map((key) => [key.id, before.get(key.id) ?? key]));
    for (const [id, key] of before) if (!this.#keys.has(id)) this.#deps.events.emit('gone', callerId(key));
  }

  #isLive({ expiresAt }: StoredKey): boolean {
    return expiresAt === undefined || expiresAt > this.#deps.now();
  }
}
