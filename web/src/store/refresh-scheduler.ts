import type { Resource } from './resource.ts';

type Refreshable = Pick<Resource<unknown>, 'refresh'>;

/** Refreshes resources after a delay. A resource that is already scheduled is not scheduled again. */
export type ScheduleRefresh = (delayMs: number, ...resources: readonly Refreshable[]) => void;

export function createRefreshScheduler(
  setTimer: (callback: () => void, ms: number) => unknown,
): ScheduleRefresh {
  const scheduled = new Set<Refreshable>();
  return (delayMs, ...resources) => {
    for (const resource of resources) {
      if (scheduled.has(resource)) continue;
      scheduled.add(resource);
      setTimer(() => {
        scheduled.delete(resource);
        resource.refresh();
      }, delayMs);
    }
  };
}
