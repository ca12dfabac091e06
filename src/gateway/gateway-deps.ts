import type { Catalog } from '../catalog/catalog.ts';
import type { GatewayConfig } from '../config/config.ts';
import type { CallWatch } from '../observe/audit/audit-trail.ts';
import type { Logger } from '../observe/log.ts';
import type { Approvals } from '../policy/approvals/approvals.ts';
import type { ListingTurn } from './listing/discovery.ts';
import type { Pause } from './operating/pause.ts';
import type { SubscribedElsewhere } from './calls/subscriptions.ts';
import type { UpstreamPool } from '../upstream/sharing/pool.ts';
import type { Guard } from '../policy/call.ts';
import type { Shares } from '../policy/sharing/shares.ts';

/** What a gateway is built from. */
export interface GatewayDeps {
  readonly config: GatewayConfig;
  readonly pool: UpstreamPool;
  readonly catalog: Catalog;
  /** Without them, everything that servers offer may be shown. */
  readonly approvals?: Approvals | undefined;
  /** Whether a person can reach this process while a call waits. */
  readonly isReachable?: boolean;
  /** Whether there is a single client, who has every server to itself. */
  readonly isForOne?: boolean;
  /** The file of word vectors, for searching. */
  readonly vectors?: URL;
  /** Reveals a text of the configuration that is about no server. */
  readonly reveal?: (text: string) => Promise<string>;
  /** Told of every operation that is over. */
  readonly watch?: CallWatch | undefined;
  /** What gateways on one database count together; absent where one is alone. */
  readonly shares?: Shares | undefined;
  /** Which of several gateways lists a server; without it each lists for itself. */
  readonly turn?: ListingTurn | undefined;
  /** Other gateways that may notice what happens to resources. */
  readonly elsewhere?: SubscribedElsewhere | undefined;
  /** Whether a person has paused serving; without it nobody can. */
  readonly pause?: Pause;
  /** Whether calls get spans. */
  readonly isTracing?: boolean;
  /** Guards of the person's own, outermost first. */
  readonly own?: readonly Guard[];
  readonly log: Logger;
  readonly now: () => number;
}
