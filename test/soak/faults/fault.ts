import type { SoakClient } from '../clients/soak-client.ts';
import type { PlannedFault } from '../plan.ts';
import type { SoakEnvironment } from '../environment/soak-environment.ts';

/** The possible targets of a fault. */
export interface FaultTargets {
  readonly environment: SoakEnvironment;
  readonly clients: readonly SoakClient[];
}

/** Injects the fault and reverts it. Returns the name of the target, or undefined if the fault is impossible here. */
export type Fault = (targets: FaultTargets, planned: PlannedFault) => Promise<string | undefined>;
