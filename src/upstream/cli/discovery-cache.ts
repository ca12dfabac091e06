import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../../core/lib/write-file-atomic.ts';
import type { Fingerprint } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json.ts';
import type { CliCommand } from './cli-command.ts';

/** A change of any field invalidates the cached commands of a program. */
export interface DiscoveryKey {
  /** The fingerprint of the server's configuration, in which secret references are unresolved. */
  readonly config: Fingerprint;
  /** The version of the gateway: another version may parse help texts differently. */
  readonly version: string;
  /** Path, size and modification time of the program's files. */
  readonly files: readonly string[];
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** The maximum age. The key misses some updates: the launcher of a version manager stays the same when the program behind it changes. */
const MAX_AGE_MS = 7 * DAY_MS;
const MAX_BYTES = 32 * 1024 * 1024;

/** Stores the discovered commands of programs on disk, one file per configured server. */
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
      // The commands need no validation: the key contains the version, so this version of the gateway has written them.
      return value['commands'] as readonly CliCommand[];
    } catch {
      return undefined; // Missing or damaged: the commands are discovered again.
    }
  }

  /** Stores the commands. A doubtful result, in which some help texts are missing because they took too long, expires after a day. */
  async remember(
    key: DiscoveryKey,
    commands: readonly CliCommand[],
    { isDoubtful }: { readonly isDoubtful: boolean },
  ): Promise<void> {
    // A doubtful result is dated back, which leaves it one day of `MAX_AGE_MS`.
    const at = this.#now() - (isDoubtful ? MAX_AGE_MS - DAY_MS : 0);
    const text = JSON.stringify({ key: JSON.stringify(key), at, commands });
    // A failure is ignored: the commands are discovered again next time.
    await writeFileAtomic(this.#file(key), text, 0o600).catch(() => {});
  }

  #file({ config }: DiscoveryKey): string {
    return join(this.folder, `${config}.json`);
  }
}
