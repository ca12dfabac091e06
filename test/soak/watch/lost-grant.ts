import type { FixtureEvent } from '../../support/fixture-log.ts';

/** Time from the response of the server until the gateway has saved it to disk, on a busy machine. */
const underWayMs = 5000;

/**
 * Returns whether a killed gateway lost the only valid refresh token: the server had replaced the old single-use token, and the gateway
 * was killed before it could save the new one. Using the old token again requires a new sign-in.
 */
export function isGrantLost(events: readonly FixtureEvent[], killedAt: number): boolean {
  const refreshes = events.filter(({ event }) => event === 'refresh');
  const reused = refreshes.find(({ at, wasSpent }) => wasSpent === true && at >= killedAt);
  const spent = refreshes.findLast(({ at, wasSpent, family }) => {
    return wasSpent === false && family === reused?.['family'] && at < (reused?.at ?? 0);
  });
  return spent !== undefined && spent.at > killedAt - underWayMs && spent.at <= killedAt + underWayMs;
}
