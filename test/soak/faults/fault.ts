import type { SoakClient } from '../clients/soak-client.ts';
import type { PlannedFault } from '../plan.ts';
import type { Stage } from '../stage/stage.ts';

/** What a fault may be done to. */
export interface Scene {
  readonly stage: Stage;
  readonly clients: readonly SoakClient[];
}

/** Does it and puts everything right again; says in a word what it was done to, or nothing where it cannot be done here. */
export type Fault = (scene: Scene, planned: PlannedFault) => Promise<string | undefined>;
