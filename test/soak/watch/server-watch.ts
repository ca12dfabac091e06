import { eventually } from '../../support/eventually.ts';
import type { Ledger } from '../ledger.ts';
import { startedBy } from './process-watch.ts';

/** What was replaced or removed is given three graces of a second each, and a call of it its time. */
const usualWithinMs = 15_000;

interface ServerWatchOptions {
  /** How many processes of a server one gateway may need; one of each that is not named. */
  readonly mostOf: ReadonlyMap<string, number>;
  readonly withinMs?: number;
}

/** In the quiet no gateway runs a process that nobody needs: one of before a reload, or beside the one that serves. */
export async function checkServers(
  gateways: readonly number[],
  ledger: Ledger,
  { mostOf, withinMs = usualWithinMs }: ServerWatchOptions,
): Promise<void> {
  const tooMany = (): readonly string[] =>
    gateways.flatMap((pid) =>
      [...startedBy(pid)]
        .filter(([name, times]) => times > (mostOf.get(name) ?? 1))
        .map(([name, times]) => `${times} of ${name}`),
    );
  await eventually(() => tooMany().length === 0, { withinMs }).catch(() => {
    ledger.violate(`servers that nobody needs run after ${withinMs} ms: ${tooMany().join(', ')}`);
  });
}
