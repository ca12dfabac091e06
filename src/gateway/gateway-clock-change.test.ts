import { describe, expect, test, vi } from 'vitest';

import { MemoryGateway } from '../../test/support/memory-gateway.ts';
import type { Offer } from '../../test/support/memory-gateway.ts';
import { Cancellation } from '../core/lib/cancellation.ts';
import type { Caller } from '../core/caller.ts';

const caller: Caller = { id: 'anna', via: 'http', profile: 'default' };
const dayMs = 86_400_000;
const silent: Offer = {
  tools: [{ name: 'look', inputSchema: { type: 'object' } }],
  script: ({ method }) => (method === 'tools/call' ? undefined : {}),
  config: { timeouts: { connectMs: 1000, callMs: 4000 } },
};

/** Starts a call that the server never answers; `outcome` is its error code once it has ended. */
async function call({ gateway }: MemoryGateway): Promise<{ outcome: unknown }> {
  const result: { outcome: unknown } = { outcome: 'open' };
  const request = {
    params: { name: 'a__look', arguments: {} },
    session: 's',
    cancellation: new Cancellation(),
  };
  const called = gateway.callTool(caller, 'a__look', request);
  called.catch((error: unknown) => (result.outcome = (error as { code?: unknown }).code));
  await vi.advanceTimersByTimeAsync(1);
  return result;
}

/** Used after the gateway has started and until it stops, because starting and stopping take real time. */
function fakeTimers(): Disposable {
  vi.useFakeTimers();
  return { [Symbol.dispose]: () => void vi.useRealTimers() };
}

describe('system clock changes', () => {
  test.each([
    ['forward', dayMs],
    ['back', -dayMs],
  ])('call timeout: is unaffected when the system clock is set %s', async (_way, jumpMs) => {
    await using memory = await MemoryGateway.start({ a: silent });
    using _timers = fakeTimers();
    const result = await call(memory);
    vi.setSystemTime(Date.now() + jumpMs);
    await vi.advanceTimersByTimeAsync(3900);
    expect(result.outcome).toBe('open');
    await vi.advanceTimersByTimeAsync(200);
    expect(result.outcome).toBe('CALL_TIMEOUT');
  });
});
