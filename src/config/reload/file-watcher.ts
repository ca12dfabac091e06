import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

import { isOnLocalDisk } from '../../core/lib/is-on-local-disk.ts';

interface FileWatcherOptions {
  /** Returns absolute paths. Called again after each change, since a new configuration may name other files. */
  readonly files: () => readonly string[];
  /** Called once for a burst of changes. May return a promise that resolves when `files` is up to date again. */
  readonly onChange: () => unknown;
  /** Polling interval if the system does not report changes, as on network file systems. */
  readonly pollMs?: number;
  /** Polling interval if the system reports every change. */
  readonly watchedPollMs?: number;
  /** Time without further changes after which a change counts as complete. */
  readonly settleMs?: number;
  /** After this time a change is reported even if the files keep changing. */
  readonly maxSettleMs?: number;
}

const POLL_MS = 1_000;
/** An idle gateway that polled every second used 0.9 ms of CPU time per second: 0.7 ms of it to poll the configuration and the approvals. */
const WATCHED_POLL_MS = 30_000;
const SETTLE_MS = 100;
const MAX_SETTLE_MS = 1_000;

/**
 * Detects changes of files: edited in place, replaced, removed, created again, or behind a symbolic link with a new target.
 * Notifications of the system only make the detection faster; polling makes it reliable. Polls are rare while all files are on a local disk
 * and watched.
 */
export class FileWatcher implements Disposable {
  readonly #options: FileWatcherOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  #pollTimer: NodeJS.Timeout | undefined;
  #lastSignature: Promise<string>;
  #settleTimer: NodeJS.Timeout | undefined;
  /** Time of the first unreported change. */
  #changedSince: number | undefined;
  /** Whether the system reports all changes. */
  #isFullyWatched = false;
  /** Whether a file or folder could not be watched because it does not exist. */
  #hasUnwatchedPath = false;
  #isClosed = false;
  /** Resolves when the initial state of the files is known and they are watched. */
  readonly ready: Promise<unknown>;

  constructor(options: FileWatcherOptions) {
    this.#options = options;
    this.#lastSignature = this.#readSignature();
    this.#schedulePoll();
    this.ready = Promise.all([this.#lastSignature, this.#watchFiles()]);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#pollTimer);
    clearTimeout(this.#settleTimer);
    this.#closeWatchers();
  }

  #schedulePoll(ms = this.#options.pollMs ?? POLL_MS): void {
    clearTimeout(this.#pollTimer);
    if (!this.#isClosed) this.#pollTimer = setTimeout(() => void this.#poll(), ms).unref();
  }

  /** Compares the files with their last signature, and schedules the next poll. */
  async #poll(): Promise<void> {
    const before = this.#lastSignature;
    this.#lastSignature = this.#readSignature();
    const isSame = (await before) === (await this.#lastSignature);
    if (!isSame) this.#noteChange();
    else if (this.#hasUnwatchedPath) return this.#watchFiles();
    const { watchedPollMs = WATCHED_POLL_MS } = this.#options;
    this.#schedulePoll(isSame && this.#isFullyWatched ? watchedPollMs : undefined);
  }

  /** Reports a change once no further change has followed for `settleMs`, or after `maxSettleMs`. */
  #noteChange(): void {
    if (this.#isClosed) return;
    const { settleMs = SETTLE_MS, maxSettleMs = MAX_SETTLE_MS } = this.#options;
    this.#changedSince ??= performance.now();
    const remaining = this.#changedSince + maxSettleMs - performance.now();
    const delay = Math.max(0, Math.min(settleMs, remaining));
    clearTimeout(this.#settleTimer);
    this.#settleTimer = setTimeout(() => void this.#reportChange(), delay).unref();
  }

  async #reportChange(): Promise<void> {
    this.#changedSince = undefined;
    // The signature is taken before the files are read, so that a later change is reported again.
    this.#lastSignature = this.#readSignature();
    await this.#lastSignature;
    if (this.#isClosed) return;
    const applied = this.#options.onChange();
    void this.#watchFiles();
    // `files` may return other paths once the new configuration is applied.
    if (applied instanceof Promise) void applied.then(() => this.#watchFiles());
  }

  /**
   * Watches the folders, because a file that is replaced has a new inode. Also watches the files, because they may be written under another
   * name: through a hard link, or from outside of a container.
   */
  async #watchFiles(): Promise<void> {
    const folders = new Map<string, Set<string>>();
    const files = new Set<string>();
    for (const file of this.#options.files()) {
      const target = await realpath(file).catch(() => undefined);
      if (target !== undefined) files.add(target);
      for (const path of new Set([file, target ?? file])) {
        const names = folders.get(dirname(path)) ?? new Set<string>();
        folders.set(dirname(path), names.add(basename(path)));
      }
    }
    const paths = [...folders.keys(), ...files];
    const areLocal = (await Promise.all(paths.map(isOnLocalDisk))).every(Boolean);
    if (this.#isClosed) return;
    this.#closeWatchers();
    for (const [folder, names] of folders) this.#watchPath(folder, names.add(basename(folder)));
    for (const file of files) this.#watchPath(file);
    this.#hasUnwatchedPath = paths.some((path) => !this.#watchers.has(path));
    this.#isFullyWatched = areLocal && !this.#hasUnwatchedPath;
    // The next poll finds changes that happened before the watchers were ready.
    this.#schedulePoll();
  }

  /** Watches a folder for changes of the given names, or a file for any change. */
  #watchPath(path: string, names?: ReadonlySet<string>): void {
    try {
      const watcher = watch(path, { persistent: false }, (_, name) => {
        if (name === null || names?.has(name) !== false) this.#noteChange();
      });
      // The path was removed, or the system has too many watchers: polling remains.
      watcher.on('error', () => {
        watcher.close();
        this.#watchers.delete(path);
        this.#isFullyWatched = false;
        this.#schedulePoll();
      });
      this.#watchers.set(path, watcher);
    } catch {
      // Not every file system can report changes: polling remains.
    }
  }

  #closeWatchers(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  async #readSignature(): Promise<string> {
    return (await Promise.all(this.#options.files().map(readFileSignature))).join('\n');
  }
}

/** Returns a text that changes whenever the file is written or replaced. */
async function readFileSignature(file: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(file);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch {
    return 'absent';
  }
}
