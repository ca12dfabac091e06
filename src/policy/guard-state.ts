import type { UpstreamName } from '../core/ids.ts';
import type { RateQueue } from '../core/lib/rate-queue.ts';
import type { Slots } from '../core/lib/slots.ts';

/** Holds the counters that survive a configuration change, so that a reload neither resets a rate nor frees an occupied slot. */
export class GuardState {
  readonly upstreamSlots: CounterMap<UpstreamName, Slots> = new Map();
  readonly callerRates: CounterMap<string, RateQueue> = new Map();
  readonly upstreamRates: CounterMap<string, RateQueue> = new Map();

  /** Drops the counters of upstreams that are not in `upstreams`. */
  retainUpstreams(upstreams: ReadonlyMap<string, unknown>): void {
    for (const name of [...this.upstreamSlots.keys()])
      if (!upstreams.has(name)) this.upstreamSlots.delete(name);
    for (const name of [...this.upstreamRates.keys()])
      if (!upstreams.has(name)) this.upstreamRates.delete(name);
  }
}

type CounterMap<Key, Counter> = Map<Key, CounterEntry<Counter>>;

/** A counter with the configured limits for which it was created. */
interface CounterEntry<Counter> {
  readonly limit: number;
  readonly maxWaiting: number;
  readonly counter: Counter;
}

/** Returns the counter of `key`. Creates a new one if there is none or if the configured limits have changed. */
export function getOrCreateCounter<Key, Counter>(
  counters: CounterMap<Key, Counter>,
  key: Key,
  limit: number,
  maxWaiting: number,
  create: () => Counter,
): Counter {
  const known = counters.get(key);
  if (known !== undefined && known.limit === limit && known.maxWaiting === maxWaiting) return known.counter;
  const counter = create();
  counters.set(key, { limit, maxWaiting, counter });
  return counter;
}
