/** Returns milliseconds of the monotonic clock, which all threads and processes of this machine share. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
