import { appendFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolderSync } from '../lib/make-folder.ts';

interface RotatingFileOptions {
  readonly maxBytes: number;
  /** Older ones beside it, as `name.1`, `name.2` … */
  readonly kept: number;
}

/** A log file that stays small: what is older is in numbered files beside it, what is oldest is gone. */
export class RotatingFile {
  readonly #path: string;
  readonly #options: RotatingFileOptions;
  #size: number | undefined;

  constructor(path: string, options: RotatingFileOptions = { maxBytes: 5 * 1024 * 1024, kept: 3 }) {
    this.#path = path;
    this.#options = options;
  }

  /** At once, so that the last words before a crash are there. A full disk must not end the gateway. */
  write(line: string): void {
    try {
      this.#size ??= this.#open();
      if (this.#size > 0 && this.#size + line.length > this.#options.maxBytes) this.#rotate();
      appendFileSync(this.#path, line, { mode: 0o600 });
      this.#size += Buffer.byteLength(line);
    } catch {
      this.#size = undefined; // Best effort: tried anew with the next line.
    }
  }

  #open(): number {
    makeFolderSync(dirname(this.#path), 0o700);
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
  }

  #rotate(): void {
    const { kept } = this.#options;
    rmSync(`${this.#path}.${kept}`, { force: true });
    for (let at = kept - 1; at >= 0; at--) {
      const from = at === 0 ? this.#path : `${this.#path}.${at}`;
      if (statSync(from, { throwIfNoEntry: false }) !== undefined)
        renameSync(from, `${this.#path}.${at + 1}`);
    }
    this.#size = 0;
  }
}
