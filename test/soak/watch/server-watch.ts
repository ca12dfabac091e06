import { eventually } from '../../support/eventually.ts';
import type { RequestTracker } from '../request-tracker.ts';
import { startedBy } from './process-watch.ts';

/** Time for a replaced or removed server to exit: three steps of a second each, plus the timeout of a running call. */
const usualWithinMs = 15_000;

interface ServerWatchOptions {
  /** Number of processes that a gateway may need, by server; one for servers that are not listed. */
  readonly mostOf: ReadonlyMap<string, number>;
  readonly withinMs?: number;
}

/** Checks that no gateway runs an unneeded process in the quiet period: one from before a reload, or a duplicate. */
export async function checkServers(
  gateways: readonly number[],
  tracker: RequestTracker,
  { mostOf, withinMs = usualWithinMs }: ServerWatchOptions,
): Promise<void> {
  const tooMany = (): readonly string[] =>
    gateways.flatMap((pid) =>
      [...startedBy(pid)]
        .filter(([name, times]) => times > (mostOf.get(name) ?? 1))
        .map(([name, times]) => `${times} of ${name}`),
    );
  await eventually(() => tooMany().length === 0, { withinMs }).catch(() => {
    tracker.violate(`unneeded servers run after ${withinMs} ms: ${tooMany().join(', ')}`);
  });
}
