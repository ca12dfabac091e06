import { expect } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { toolsAt } from '../support/http-caller.ts';
import type { RunningFleet } from './fleet.ts';

/** Until every gateway lists a tool; asked by somebody else than a client of the test, who is not told of a list that it has read by itself. */
export async function listedEverywhere({ replicas }: RunningFleet, name: string): Promise<void> {
  for (const { url } of replicas)
    await eventually(async () => expect(await toolsAt(url)).toContain(name), { withinMs: 40_000 });
}
