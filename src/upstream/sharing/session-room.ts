import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { Upstream } from '../upstream.ts';

type Occupant = Pick<Upstream, 'state' | 'inFlight'>;

interface Room<U extends Occupant> {
  /** Sessions that have one of their own of this server, by session. */
  readonly occupants: ReadonlyMap<string, U>;
  readonly max: number;
  readonly usedAt: (upstream: U) => number;
}

/** Enough for a short call of somebody else to end. */
const RETRY_AFTER_MS = 1000;

/**
 * Which session has to give up its process so that another one gets one: that of the longest idle, never one with calls in flight.
 * Undefined while there is room; throws when everybody is busy.
 */
export function whoLeaves<U extends Occupant>(name: UpstreamName, room: Room<U>): string | undefined {
  const running = [...room.occupants].filter(([, { state }]) => state.at !== 'idle');
  if (running.length < room.max) return undefined;
  const quiet = running.filter(([, upstream]) => !isBusy(upstream));
  const [longest] = quiet.toSorted(([, a], [, b]) => room.usedAt(a) - room.usedAt(b));
  if (longest !== undefined) return longest[0];
  throw new GatewayError(
    'UPSTREAM_BUSY',
    `All ${room.max} processes of server "${name}" that sessions may have are at work (limits.sessions); try again in a moment.`,
    { details: { upstream: name, retryAfterMs: RETRY_AFTER_MS } },
  );
}

function isBusy({ inFlight, state }: Occupant): boolean {
  return inFlight > 0 || state.at === 'connecting';
}
