import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A folder on a separate small disk that can be filled. */
export interface SmallDisk {
  readonly folder: string;
  /** Writes until no further byte fits. */
  fill(): void;
  free(): void;
  unmount(): void;
}

/** Returns undefined if mounting is not permitted; then the run says that it leaves the fault out. */
export function mountSmallDisk(folder: string, megabytes: number): SmallDisk | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const options = `size=${megabytes}m,mode=0700`;
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]).status !== 0) return undefined;
  const filler = join(folder, 'filler');
  return {
    folder,
    fill() {
      const file = openSync(filler, 'w');
      try {
        const block = Buffer.alloc(64 * 1024, 1);
        for (;;) if (writeSync(file, block) === 0) break;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler, { force: true }),
    // Unmount lazily: the process watch reports processes that still have files open there.
    unmount: () => void spawnSync('umount', ['-l', folder]),
  };
}
