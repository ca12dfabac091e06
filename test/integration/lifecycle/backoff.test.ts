import { expect } from 'vitest';

import { gatewayErrorCode } from '../../support/client-helpers.ts';
import type { TestSetup } from '../../support/cell.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { scenario } from '../../support/scenario.ts';

checkLeaks();

// Without pauses, a fixture would start more than forty times. An attempt may take two starts, because a server that exits on the
// probe is started again without it; with random pauses of up to 0.5, 1, 2, 4 … s, nine attempts are practically impossible.
const stormMs = 3000;
const fewStarts = 18;

scenario(
  'restart backoff: pauses between restarts of a server that dies at startup',
  { slow: true },
  async (cell) => {
    await using line = await cell.open({ one: ['dies-at-start'] });
    const codes = await callWithoutPause(line);
    expect(codes).toEqual(new Set(['UPSTREAM_UNAVAILABLE']));
    expect(line.logs['one']?.of('started').length).toBeLessThanOrEqual(fewStarts);
    expect(line.logs['one']?.of('started').length, 'it is tried again').toBeGreaterThan(1);
  },
);

scenario(
  'restart backoff: pauses between restarts of a server that dies after the handshake',
  async (cell) => {
    await using line = await cell.open({ one: ['dies-after-handshake'] });
    const codes = await callWithoutPause(line);
    expect(codes).toEqual(new Set(['UPSTREAM_CLOSED']));
    expect(line.logs['one']?.of('started').length).toBeLessThanOrEqual(fewStarts);
    expect(line.logs['one']?.of('started').length, 'it is tried again').toBeGreaterThan(1);
  },
);

/** Calls repeatedly without a pause, and returns the error codes. */
async function callWithoutPause({ client }: TestSetup): Promise<ReadonlySet<unknown>> {
  const until = performance.now() + stormMs;
  const codes = new Set<unknown>();
  const caller = async (): Promise<void> => {
    for (let calls = 0; calls < 2 || performance.now() < until; calls += 1) {
      codes.add(gatewayErrorCode(await client.callTool('one__echo', { text: 'a' })));
    }
  };
  await Promise.all(Array.from({ length: 10 }, caller));
  return codes;
}
