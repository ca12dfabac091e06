import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';

import { writeFileAtomic } from '../../core/lib/write-file-atomic.ts';

/** Whether serving is paused. The state is written to a file, because a pause must survive a restart of the gateway. */
export class PauseState {
  readonly #file: string | undefined;
  readonly #now: () => number;
  #since: number | undefined;

  /** `onUnreadable` receives the error if the file exists but cannot be read; serving is then paused. */
  constructor(file: string | undefined, now: () => number, onUnreadable?: (error: unknown) => void) {
    this.#file = file;
    this.#now = now;
    if (file !== undefined) this.#since = readPauseFile(file, onUnreadable);
  }

  /** Start of the pause in milliseconds since 1970; undefined while calls are served. */
  get since(): number | undefined {
    return this.#since;
  }

  /** Pauses serving at once, then writes the file. A pause that has already begun keeps its start. */
  async begin(): Promise<void> {
    this.#since ??= this.#now();
    if (this.#file !== undefined)
      await writeFileAtomic(this.#file, `${JSON.stringify({ since: this.#since })}\n`, 0o600);
  }

  /** Removes the file first: if that fails, serving stays paused, as it would after a restart. */
  async end(): Promise<void> {
    if (this.#file !== undefined) await rm(this.#file, { force: true });
    this.#since = undefined;
  }
}

/**
 * Returns the start of the pause, or undefined if there is no file. Returns 0 if the file cannot be read or has no valid time: serving
 * is then paused as well, because a person may have stopped all calls for a reason.
 */
function readPauseFile(file: string, onUnreadable?: (error: unknown) => void): number | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    onUnreadable?.(error);
    return 0;
  }
  const since = Number(/"since":(\d{1,15})/.exec(text)?.[1]);
  return Number.isNaN(since) ? 0 : since;
}

/** Whether the pause file does not exist. ENOTDIR means that the state folder is a file, so it cannot contain a pause file. */
function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
