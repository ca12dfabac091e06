import { clientKinds } from '../clients/connection.ts';
import type { RequestTracker } from '../request-tracker.ts';
import { faultKinds } from '../plan.ts';

/** Events that happen by themselves or at the end, in addition to the planned faults. */
export const tokensExpire = 'tokens-expire';
export const gatewayKilled = 'kill -9 of the gateway';
export const gatewayStopped = 'stop of the gateway';

/** Every fault and event of a run. */
export const faultEvents: readonly string[] = [...faultKinds, tokensExpire, gatewayKilled, gatewayStopped];

/** Checks that each kind of fault happened, unless it is impossible here: a fault that never happened was not survived. */
export function checkHappened(tracker: RequestTracker, impossible: ReadonlyMap<string, string>): void {
  for (const kind of faultEvents) {
    if (tracker.faults.has(kind) || impossible.has(kind)) continue;
    tracker.violate(`${kind} did not happen in this run, so it was not tested`);
  }
  for (const { name } of clientKinds)
    if (!tracker.served.has(name)) tracker.violate(`${name} got no successful answer in this run`);
}
