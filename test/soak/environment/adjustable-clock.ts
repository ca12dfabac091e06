import { existsSync, writeFileSync } from 'node:fs';

/** Moves the wall clock of a process. Its monotonic clock is unaffected, as when somebody sets the time of a machine. */
export interface AdjustableClock {
  readonly env: Readonly<Record<string, string>>;
  jump(seconds: number): void;
}

const libraries = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1',
  '/usr/lib/faketime/libfaketimeMT.so.1',
];

/** Returns undefined if libfaketime is missing; then the run says that it leaves the fault out. */
export function createAdjustableClock(file: string): AdjustableClock | undefined {
  const library = libraries.find((path) => existsSync(path));
  if (library === undefined) return undefined;
  const jump = (seconds: number): void => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}`);
  jump(0);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    },
    jump,
  };
}
