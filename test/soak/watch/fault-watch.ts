import { clientKinds } from '../clients/connection.ts';
import type { Ledger } from '../ledger.ts';
import { faultKinds } from '../plan.ts';

/** What happens by itself or at the end, beside the faults of the plan. */
export const tokensExpire = 'tokens-expire';
export const gatewayKilled = 'kill -9 of the gateway';
export const gatewayStopped = 'stop of the gateway';

/** Everything that is done in a run. */
export const happenings: readonly string[] = [...faultKinds, tokensExpire, gatewayKilled, gatewayStopped];

/** What was never done was never survived: each kind must have happened, unless there is a reason why it cannot here. */
export function checkHappened(ledger: Ledger, impossible: ReadonlyMap<string, string>): void {
  for (const kind of happenings) {
    if (ledger.faults.has(kind) || impossible.has(kind)) continue;
    ledger.violate(`${kind} did not happen in this run, so that nothing is known about it`);
  }
  for (const { name } of clientKinds)
    if (!ledger.served.has(name)) ledger.violate(`${name} got no answer in this run that it wanted`);
}
