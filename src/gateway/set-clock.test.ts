import { describe, expect, test, vi } from 'vitest';

import { MemoryGateway } from '../../test/support/memory-gateway.ts';
import type { Offer } from '../../test/support/memory-gateway.ts';
import { Cancellation } from '../lib/cancellation.ts';
import type { Caller } from '../model/caller.ts';

const caller: Caller = { id: 'somebody', via: 'http', profile: 'default' };
const dayMs = 86_400_000;
const silent: Offer = {
  tools: [{ name: 'look', inputSchema: { type: 'object' } }],
  script: ({ method }) => (method === 'tools/call' ? undefined : {}),
  config: { timeouts: { connectMs: 1000, callMs: 4000 } },
};

/** A call that the server never answers, and how it ended. */
async function call({ gateway }: MemoryGateway): Promise<{ outcome: unknown }> {
  const seen: { outcome: unknown } = { outcome: 'open' };
  const request = {
    params: { name: 'a__look', arguments: {} },
    session: 's',
    cancellation: new Cancellation(),
  };
  const called = gateway.callTool(caller, 'a__look', request);
  called.catch((error: unknown) => (seen.outcome = (error as { code?: unknown }).code));
  await vi.advanceTimersByTimeAsync(1);
  return seen;
}

/** Only when the gateway runs, and no longer than until it is to stop: both take real time. */
function fakeTimers(): Disposable {
  vi.useFakeTimers();
  return { [Symbol.dispose]: () => void vi.useRealTimers() };
}

describe('when somebody sets the clock of the machine', () => {
  test.each([
    ['forward', dayMs],
    ['back', -dayMs],
  ])('%s, a call has the time that it was given, neither more nor less', async (_way, jumpMs) => {
    await using memory = await MemoryGateway.start({ a: silent });
    using _timers = fakeTimers();
    const seen = await call(memory);
    vi.setSystemTime(Date.now() + jumpMs);
    await vi.advanceTimersByTimeAsync(3900);
    expect(seen.outcome).toBe('open');
    await vi.advanceTimersByTimeAsync(200);
    expect(seen.outcome).toBe('CALL_TIMEOUT');
  });
});
