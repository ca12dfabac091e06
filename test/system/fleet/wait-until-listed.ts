import { expect } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { listToolNamesAt } from '../../support/http-requests.ts';
import type { RunningFleet } from './fleet.ts';

/**
 * Waits until every gateway lists a tool. It does not use a client of the test, because a client that has read a list itself is not notified
 * of its change.
 */
export async function waitUntilListed({ replicas }: RunningFleet, name: string): Promise<void> {
  for (const { url } of replicas)
    await eventually(async () => expect(await listToolNamesAt(url)).toContain(name), { withinMs: 40_000 });
}
