import { describe, expect, test } from 'vitest';

import { deferred } from '../../core/lib/deferred.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { silentLogger } from '../../observability/log.ts';
import { installingError } from '../../upstream/connecting/upstream-errors.ts';
import { ListingScheduler, computeFirstListWait, computeRemainingWait } from './listing-scheduler.ts';

const one = 'one' as UpstreamName;
const down = new GatewayError('UPSTREAM_UNAVAILABLE', 'not now');

/** Creates a scheduler whose listings settle like `runs`, one after the other. */
function schedulerWith(...runs: Promise<void>[]): ListingScheduler {
  const catalog = { refresh: () => runs.shift() ?? Promise.resolve() };
  return new ListingScheduler({
    // The scheduler uses no other members here.
    pool: { get: () => undefined } as never,
    catalog: catalog as never,
    refreshMs: () => 1000,
    listWaitMs: () => 1000,
    now: Date.now,
    log: silentLogger,
  });
}

describe('listing failure', () => {
  test('listing failure: is not recorded for a server that is still being installed', async () => {
    const scheduler = schedulerWith(Promise.reject(down), Promise.reject(installingError(one)));
    await scheduler.refreshInBackground(one);
    expect(scheduler.failure(one)).toBe(down);
    await expect(scheduler.refresh(one)).rejects.toMatchObject({ details: { isInstalling: true } });
    expect(scheduler.failure(one)).toBeUndefined();
  });

  test('listing failure: is kept until the server is listed successfully', async () => {
    const scheduler = schedulerWith(Promise.reject(down));
    expect(scheduler.failure(one)).toBeUndefined();
    await expect(scheduler.refresh(one)).rejects.toBe(down);
    expect(scheduler.failure(one)).toBe(down);
    await scheduler.refresh(one);
    expect(scheduler.failure(one)).toBeUndefined();
  });

  test('listing failure: reports an error response of the server as UPSTREAM_PROTOCOL', async () => {
    const answer = new RpcError({ code: -32603, message: 'out of order' });
    const scheduler = schedulerWith(Promise.reject(answer));
    await scheduler.refreshInBackground(one);
    expect(scheduler.failure(one)).toMatchObject({
      code: 'UPSTREAM_PROTOCOL',
      message: 'Server "one" answered a list request with error -32603: out of order',
    });
  });

  test('listing failure: ignores the outcome of a listing under an older configuration', async () => {
    const [old, next] = [deferred<void>(), deferred<void>()];
    const scheduler = schedulerWith(old.promise, next.promise);
    const ended = scheduler.refreshInBackground(one);
    scheduler.serverChanged(one);
    const listed = scheduler.refreshInBackground(one);
    old.reject(new GatewayError('UPSTREAM_CLOSED', 'it was changed'));
    await ended;
    expect(scheduler.failure(one)).toBeUndefined();
    next.resolve();
    await listed;
    expect(scheduler.failure(one)).toBeUndefined();
  });
});

describe('first list wait', () => {
  test('list wait: counts from process start for early requests', () => {
    expect(computeFirstListWait(950, 250)).toEqual({ earliest: 712.5, usual: 950, latest: 1200 });
  });

  test('list wait: allows late requests half the wait, and the full wait without any listing', () => {
    expect(computeFirstListWait(950, 600)).toEqual({ earliest: 837.5, usual: 1075, latest: 1550 });
    expect(computeFirstListWait(950, 3_600_000)).toEqual({
      earliest: 3_600_237.5,
      usual: 3_600_475,
      latest: 3_600_950,
    });
  });

  test('list wait: shares one deadline among all requests', () => {
    const wait = computeFirstListWait(950, 250);
    expect(computeRemainingWait(wait, 250)).toMatchObject({ forAllMs: 700, atMostMs: 950 });
    expect(computeRemainingWait(wait, 250).lastFew).toEqual({ fromMs: 462.5, lullMs: 50 });
    expect(computeRemainingWait(wait, 1000)).toMatchObject({ forAllMs: 0, atMostMs: 200 });
    expect(computeRemainingWait(wait, 5000)).toMatchObject({ forAllMs: 0, atMostMs: 0 });
  });

  test('list wait: ends at once when it is configured as zero', () => {
    expect(computeRemainingWait(computeFirstListWait(0, 200), 200)).toMatchObject({
      forAllMs: 0,
      atMostMs: 0,
    });
  });
});
