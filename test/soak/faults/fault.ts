import type { SoakClient } from '../clients/soak-client.ts';
import type { PlannedFault } from '../plan.ts';
import type { Stage } from '../stage/stage.ts';

/** The possible targets of a fault. */
export interface Scene {
  readonly stage: Stage;
  readonly clients: readonly SoakClient[];
}

/** Injects the fault and reverts it. Returns the name of the target, or undefined if the fault is impossible here. */
export type Fault = (scene: Scene, planned: PlannedFault) => Promise<string | undefined>;
