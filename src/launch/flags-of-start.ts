/** What of `node:v8` is needed, which is loaded for it alone. */
interface Flags {
  /** Another number after each change of a flag that compiled code depends on. */
  cachedDataVersionTag(): number;
  setFlagsFromString(flag: string): void;
}

/** V8 refuses code that was made under other flags than it has when it is to use it; a gateway changes this one once it runs. */
const CHANGED = 'allocation-site-pretenuring';

export function setFlagsOfStart(v8: Flags): void {
  v8.setFlagsFromString(`--${CHANGED}`);
}

/** Runs with the flags that the process began with. */
export function withFlagsOfStart<Result>(v8: Flags, work: () => Result): Result {
  const now = v8.cachedDataVersionTag();
  setFlagsOfStart(v8);
  try {
    return work();
  } finally {
    if (v8.cachedDataVersionTag() !== now) v8.setFlagsFromString(`--no-${CHANGED}`);
  }
}
