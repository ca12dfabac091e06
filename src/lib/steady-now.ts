/** Milliseconds of a clock that nobody sets, the same for all threads and processes of this machine since it was started. */
export function steadyNow(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
