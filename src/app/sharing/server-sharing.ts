import type { Fleet } from '../../fleet/fleet.ts';
import type { Logger } from '../../observe/log.ts';
import type { OpenPeer } from '../../upstream/open-peer.ts';
import type { UpstreamPool } from '../../upstream/pool.ts';

/** How servers are shared with the other gateways of a fleet. */
interface ServerSharing {
  /** Opens a server here or through the gateway that runs it. */
  opener(open: OpenPeer): OpenPeer;
  /** Serves others what the pool runs. */
  host(pool: UpstreamPool): void;
  /** Nothing more is done for others; resolves when what was begun is answered. */
  leave(): Promise<void>;
}

export async function serverSharing(fleet: Fleet, log: Logger): Promise<ServerSharing> {
  const [{ sharedOpener }, { Host }] = await Promise.all([
    import('../../fleet/shared/shared-opener.ts'),
    import('../../fleet/shared/host.ts'),
  ]);
  const { ownerships, line } = fleet;
  let leave = (): Promise<void> => Promise.resolve();
  return {
    opener: (open) => sharedOpener({ fleet, open, log }),
    host(pool) {
      const host = new Host({ pool, ownerships, log });
      leave = () => host.leave();
      line.host((what, opening) => host.opened(what, opening));
    },
    leave: () => leave(),
  };
}
