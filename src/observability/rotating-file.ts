import { appendFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolderSync } from '../core/lib/make-folder.ts';

interface RotatingFileOptions {
  readonly maxBytes: number;
  /** The number of older files that are kept beside the current one, named `name.1`, `name.2` … */
  readonly maxOldFiles: number;
}

/** A log file of limited size. Older lines are in numbered files beside it; the oldest file is deleted. */
export class RotatingFile {
  readonly #path: string;
  readonly #options: RotatingFileOptions;
  /** The size of the current file; undefined before the first write and after an error. */
  #size: number | undefined;

  constructor(path: string, options: RotatingFileOptions = { maxBytes: 5 * 1024 * 1024, maxOldFiles: 3 }) {
    this.#path = path;
    this.#options = options;
  }

  /** Writes synchronously, so that the last lines before a crash are in the file. Ignores errors: a full disk must not stop the gateway. */
  write(line: string): void {
    try {
      this.#size ??= this.#open();
      if (this.#size > 0 && this.#size + line.length > this.#options.maxBytes) this.#rotate();
      appendFileSync(this.#path, line, { mode: 0o600 });
      this.#size += Buffer.byteLength(line);
    } catch {
      this.#size = undefined; // The next line opens the file again.
    }
  }

  #open(): number {
    makeFolderSync(dirname(this.#path), 0o700);
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Renames each file to the next number, the highest number first, after deleting the oldest file. */
  #rotate(): void {
    const { maxOldFiles } = this.#options;
    rmSync(`${this.#path}.${maxOldFiles}`, { force: true });
    for (let number = maxOldFiles - 1; number >= 0; number--) {
      const source = number === 0 ? this.#path : `${this.#path}.${number}`;
      if (statSync(source, { throwIfNoEntry: false }) !== undefined)
        renameSync(source, `${this.#path}.${number + 1}`);
    }
    this.#size = 0;
  }
}
