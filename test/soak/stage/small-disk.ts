import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A folder on a small disk of its own that can be filled. */
export interface SmallDisk {
  readonly folder: string;
  /** Returns when not another byte can be written. */
  fill(): void;
  free(): void;
  unmount(): void;
}

/** Undefined where nobody may mount anything: then the fault is left out, and whoever runs this is told. */
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
    // Lazily: what still has a file open there is somebody else's problem, which is looked for elsewhere.
    unmount: () => void spawnSync('umount', ['-l', folder]),
  };
}
