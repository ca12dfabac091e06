import type { Slots } from '../lib/slots.ts';
import type { Paced } from '../lib/paced.ts';
import type { UpstreamName } from '../model/ids.ts';

/** What a guard counts with, and the two numbers it was made for. */
interface Counted<T> {
  readonly width: number;
  readonly more: number;
  readonly own: T;
}

/** What guards remember from call to call. It outlives a change of the configuration that leaves their numbers as they are. */
export interface GuardMemory {
  readonly upstreamSlots: Map<UpstreamName, Counted<Slots>>;
  readonly callerRates: Map<string, Counted<Paced>>;
  readonly upstreamRates: Map<string, Counted<Paced>>;
  /** Forgets servers that are not among these. */
  keep(upstreams: ReadonlyMap<string, unknown>): void;
}

export function guardMemory(): GuardMemory {
  const upstreamSlots: GuardMemory['upstreamSlots'] = new Map();
  const upstreamRates: GuardMemory['upstreamRates'] = new Map();
  return {
    ...{ upstreamSlots, upstreamRates, callerRates: new Map() },
    keep: (upstreams) => {
      for (const name of [...upstreamSlots.keys()]) if (!upstreams.has(name)) upstreamSlots.delete(name);
      for (const name of [...upstreamRates.keys()]) if (!upstreams.has(name)) upstreamRates.delete(name);
    },
  };
}

/** The one of this key; another one when its numbers are others. */
export function counted<K, T>(
  known: Map<K, Counted<T>>,
  key: K,
  width: number,
  more: number,
  make: () => T,
): T {
  const found = known.get(key);
  if (found !== undefined && found.width === width && found.more === more) return found.own;
  const own = make();
  known.set(key, { width, more, own });
  return own;
}
