import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import type { Fingerprint } from '../../model/ids.ts';
import { isJsonObject } from '../../model/json.ts';
import type { CliCommand } from './cli-command.ts';

/** What the found commands depend on. */
export interface DiscoveryKey {
  /** Of the entry in the configuration, with references unrevealed. */
  readonly config: Fingerprint;
  /** Ours: another version may read help texts in another way. */
  readonly version: string;
  /** Path, size and time of the program. */
  readonly files: readonly string[];
}

/** Launchers of version managers stay the same when the program behind them changes, so it is looked again now and then. */
const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_AGE_MS = 7 * DAY_MS;
const MAX_BYTES = 32 * 1024 * 1024;

/** What was found in the help of programs, in one file for each entry of the configuration; it survives restarts. */
export class DiscoveryCache {
  readonly folder: string;
  readonly #now: () => number;

  constructor(options: { readonly stateDir: string; readonly now: () => number }) {
    this.folder = join(options.stateDir, 'cli-tools');
    this.#now = options.now;
  }

  async recall(key: DiscoveryKey): Promise<readonly CliCommand[] | undefined> {
    try {
      const bytes = await readFile(this.#file(key));
      if (bytes.length > MAX_BYTES) return undefined;
      const value: unknown = JSON.parse(bytes.toString('utf8'));
      if (!isJsonObject(value) || value['key'] !== JSON.stringify(key)) return undefined;
      const age = this.#now() - Number(value['at']);
      if (!Array.isArray(value['commands']) || !(age >= 0 && age < MAX_AGE_MS)) return undefined;
      // Our own file, written from such a list by the same version.
      return value['commands'] as readonly CliCommand[];
    } catch {
      return undefined; // Missing or damaged: it is found out again.
    }
  }

  /** What is doubtful, because not every question was answered in time, holds for a day. */
  async remember(
    key: DiscoveryKey,
    commands: readonly CliCommand[],
    { isDoubtful }: { readonly isDoubtful: boolean },
  ): Promise<void> {
    const at = this.#now() - (isDoubtful ? MAX_AGE_MS - DAY_MS : 0);
    const text = JSON.stringify({ key: JSON.stringify(key), at, commands });
    // Best effort: without it the program is asked again next time.
    await writeFileAtomic(this.#file(key), text, 0o600).catch(() => {});
  }

  #file({ config }: DiscoveryKey): string {
    return join(this.folder, `${config}.json`);
  }
}
