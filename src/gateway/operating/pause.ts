import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { writeFileAtomic } from '../../lib/atomic-file.ts';

/** Whether a person has paused serving. It is written down, since a pause must outlive the gateway that was told of it. */
export class Pause {
  readonly #file: string | undefined;
  readonly #now: () => number;
  #since: number | undefined;

  constructor(file: string | undefined, now: () => number) {
    this.#file = file;
    this.#now = now;
    if (file !== undefined) this.#since = sinceIn(file);
  }

  /** In milliseconds since 1970; undefined while calls are let through. */
  get since(): number | undefined {
    return this.#since;
  }

  async begin(): Promise<void> {
    this.#since ??= this.#now();
    if (this.#file !== undefined)
      await writeFileAtomic(this.#file, `${JSON.stringify({ since: this.#since })}\n`, 0o600);
  }

  async end(): Promise<void> {
    if (this.#file !== undefined) await rm(this.#file, { force: true });
    this.#since = undefined;
  }
}

/** A file that cannot be understood still says that somebody paused. */
function sinceIn(file: string): number | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined; // Not there, as nearly always.
  }
  const since = Number(/"since":(\d{1,15})/.exec(text)?.[1]);
  return Number.isNaN(since) ? 0 : since;
}
