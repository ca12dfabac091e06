import type { Resource } from './resource.ts';

type Refreshed = Pick<Resource<unknown>, 'refresh'>;

/** Refreshes after a while, once for however many reasons there were meanwhile. */
export type Settle = (ms: number, ...stale: readonly Refreshed[]) => void;

export function makeSettle(later: (act: () => void, ms: number) => unknown): Settle {
  const pending = new Set<Refreshed>();
  return (ms, ...stale) => {
    for (const each of stale) {
      if (pending.has(each)) continue;
      pending.add(each);
      later(() => {
        pending.delete(each);
        each.refresh();
      }, ms);
    }
  };
}
