import type { FixtureEvent } from '../../support/fixture-log.ts';

/** What an answer may take from the server that gives it to the disk of the gateway that gets it, on a busy machine. */
const underWayMs = 5000;

/**
 * Whether a gateway that was killed took the only good refresh token with it: the server had given it a new one for the old one, which is
 * good for one time, and it was killed before it could save it. Whoever offers the old one again has to sign in again.
 */
export function isGrantLost(events: readonly FixtureEvent[], killedAt: number): boolean {
  const refreshes = events.filter(({ event }) => event === 'refresh');
  const reused = refreshes.find(({ at, wasSpent }) => wasSpent === true && at >= killedAt);
  const spent = refreshes.findLast(({ at, wasSpent, family }) => {
    return wasSpent === false && family === reused?.['family'] && at < (reused?.at ?? 0);
  });
  return spent !== undefined && spent.at > killedAt - underWayMs && spent.at <= killedAt + underWayMs;
}
