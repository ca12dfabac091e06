import { describe, expect, test } from 'vitest';

import { deferred } from '../../lib/deferred.ts';
import { GatewayError, RpcError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { silentLogger } from '../../observe/log.ts';
import { Discovery } from './discovery.ts';

const one = 'one' as UpstreamName;
const down = new GatewayError('UPSTREAM_UNAVAILABLE', 'not now');

/** Each listing ends as the next of these does. */
function discovering(...runs: Promise<void>[]): Discovery {
  const catalog = { refresh: () => runs.shift() ?? Promise.resolve() };
  // Nothing else of them is asked for here.
  return new Discovery({ get: () => undefined } as never, catalog as never, {
    refreshMs: () => 1000,
    now: Date.now,
    log: silentLogger,
  });
}

describe('why a server could not be listed', () => {
  test('is known until it is listed', async () => {
    const discovery = discovering(Promise.reject(down));
    expect(discovery.failure(one)).toBeUndefined();
    await expect(discovery.refresh(one)).rejects.toBe(down);
    expect(discovery.failure(one)).toBe(down);
    await discovery.refresh(one);
    expect(discovery.failure(one)).toBeUndefined();
  });

  test('is an error of ours also where it is the answer of the server', async () => {
    const answer = new RpcError({ code: -32603, message: 'out of order' });
    const discovery = discovering(Promise.reject(answer));
    await discovery.refreshInBackground(one);
    expect(discovery.failure(one)).toMatchObject({
      code: 'UPSTREAM_PROTOCOL',
      message: 'Server "one" was asked what it offers and answered with error -32603: out of order',
    });
  });

  test('is not what became of an older configuration', async () => {
    const [old, next] = [deferred<void>(), deferred<void>()];
    const discovery = discovering(old.promise, next.promise);
    const ended = discovery.refreshInBackground(one);
    discovery.changed(one);
    const listed = discovery.refreshInBackground(one);
    old.reject(new GatewayError('UPSTREAM_CLOSED', 'it was changed'));
    await ended;
    expect(discovery.failure(one)).toBeUndefined();
    next.resolve();
    await listed;
    expect(discovery.failure(one)).toBeUndefined();
  });
});
