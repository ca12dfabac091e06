import type { Catalog } from '../catalog/catalog.ts';
import type { ConfigSnapshot, GatewayConfig } from '../config/config.ts';
import type { ConfigDiff } from '../config/reload/diff-config.ts';
import type { CallObserver } from '../observability/audit/audit-trail.ts';
import type { Logger } from '../observability/log.ts';
import type { ApprovalRegistry } from '../policy/approvals/approval-registry.ts';
import type { FleetShares } from '../policy/fleet-limits/fleet-shares.ts';
import type { Guard } from '../policy/guard.ts';
import type { UpstreamPool } from '../upstream/upstream-pool.ts';
import type { SubscriptionSync } from './calls/resource-subscriptions.ts';
import type { TaskOwnerStore } from './calls/task-owner-store.ts';
import type { FailureMemory } from './failure-memory.ts';
import type { PauseState } from './control/pause-state.ts';
import type { ListInTurn } from './listing/listing-scheduler.ts';

export interface GatewayDeps extends GuardSettings {
  readonly config: GatewayConfig;
  readonly pool: UpstreamPool;
  readonly catalog: Catalog;
  /** Stores approvals; without it, nothing is held for approval. */
  readonly approvals?: ApprovalRegistry | undefined;
  /** Whether an operator can reach this process to decide about held calls. */
  readonly isOperatorReachable?: boolean;
  /** Whether one client has all servers to itself, as with `trunkline wrap`. */
  readonly hasSingleClient?: boolean;
  /** The file of word vectors for the search. */
  readonly vectors?: URL;
  /** Resolves the secrets in a text of the configuration that belongs to no server. */
  readonly resolveSecrets?: (text: string) => Promise<string>;
  /** The limits that all gateways on one database share; absent for a single gateway. */
  readonly shares?: FleetShares | undefined;
  /** Coordinates which of several gateways fetches a listing; without it, each fetches for itself. */
  readonly listInTurn?: ListInTurn | undefined;
  /** Exchanges resource subscriptions with other gateways. */
  readonly subscriptionSync?: SubscriptionSync | undefined;
  /** Stores who started which task; without it, only this process remembers that. */
  readonly taskOwners?: TaskOwnerStore | undefined;
  /** Remembers why servers failed; without it, failures are forgotten when this process ends. */
  readonly failures?: FailureMemory | undefined;
  /** Whether serving is paused; without it, serving cannot be paused. */
  readonly pause?: PauseState | undefined;
  readonly log: Logger;
  readonly now: () => number;
}

/** Guard settings that are loaded outside of the gateway. */
export interface GuardSettings {
  /** Records finished operations; absent if the audit log is off. */
  readonly callObserver?: CallObserver | undefined;
  /** Whether calls get spans. */
  readonly isTracing?: boolean | undefined;
  /** Guards from the `guards` setting, outermost first. */
  readonly customGuards?: readonly Guard[] | undefined;
}

/** A changed configuration, with the guard settings that were loaded for it. */
export interface ConfigUpdate extends GuardSettings {
  readonly snapshot: ConfigSnapshot;
  readonly diff: ConfigDiff;
}
