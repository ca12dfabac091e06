import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

interface FileWatchOptions {
  /** Absolute; asked again after each change, since a configuration names other files then. */
  readonly files: () => readonly string[];
  /** Called when something may be different, once for many changes in a row. */
  readonly onChange: () => void;
  /** How often files are looked at where the system tells nothing, as on network file systems. */
  readonly pollMs?: number;
  /** How long nothing may happen before a change counts as whole. */
  readonly quietMs?: number;
  /** How long a file that never comes to rest is waited for. */
  readonly patienceMs?: number;
}

const POLL_MS = 1_000;
const QUIET_MS = 100;
const PATIENCE_MS = 1_000;

/**
 * Notices when files change: edited in place, replaced, removed, made again, or behind a link that leads elsewhere. What the
 * system tells is a hint that comes early; looking at the files now and then is what can be relied on.
 */
export class FileWatch implements Disposable {
  readonly #options: FileWatchOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #timer: NodeJS.Timeout;
  #seen: Promise<string>;
  #settling: NodeJS.Timeout | undefined;
  #since: number | undefined;
  #isClosed = false;

  constructor(options: FileWatchOptions) {
    this.#options = options;
    this.#seen = this.#signatures();
    this.#timer = setInterval(() => void this.#look(), options.pollMs ?? POLL_MS).unref();
    void this.#listen();
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#settling);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  async #look(): Promise<void> {
    const before = this.#seen;
    this.#seen = this.#signatures();
    if ((await before) !== (await this.#seen)) this.#hint();
  }

  /** Something happens; it is told when nothing more does. */
  #hint(): void {
    if (this.#isClosed) return;
    const { quietMs = QUIET_MS, patienceMs = PATIENCE_MS } = this.#options;
    this.#since ??= performance.now();
    const left = this.#since + patienceMs - performance.now();
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#settle(), Math.max(0, Math.min(quietMs, left))).unref();
  }

  #settle(): void {
    this.#since = undefined;
    // What is told now needs no second telling.
    this.#seen = this.#signatures();
    this.#options.onChange();
    void this.#listen();
  }

  /** Folders are listened to and not files, since a file that is replaced is another one. */
  async #listen(): Promise<void> {
    const wanted = new Map<string, Set<string>>();
    for (const file of this.#options.files()) {
      const real = await realpath(file).catch(() => file);
      for (const path of new Set([file, real])) {
        const names = wanted.get(dirname(path)) ?? new Set<string>();
        wanted.set(dirname(path), names.add(basename(path)));
      }
    }
    if (this.#isClosed) return;
    for (const [folder, watcher] of this.#watchers) {
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const [folder, names] of wanted) this.#listenTo(folder, names);
  }

  #listenTo(folder: string, names: ReadonlySet<string>): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name === null || names.has(name)) this.#hint();
      });
      // The folder is gone, or there are too many listeners: looking now and then is left.
      watcher.on('error', () => {
        watcher.close();
        this.#watchers.delete(folder);
      });
      this.#watchers.set(folder, watcher);
    } catch {
      // Not every file system can tell; looking now and then is left.
    }
  }

  async #signatures(): Promise<string> {
    return (await Promise.all(this.#options.files().map(signature))).join('\n');
  }
}

async function signature(file: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(file);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch {
    return 'absent';
  }
}
