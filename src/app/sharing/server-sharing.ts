import type { UpstreamConfig } from '../../config/config.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { Logger } from '../../observe/log.ts';
import type { OpenPeer } from '../../upstream/open-peer.ts';
import type { UpstreamPool } from '../../upstream/sharing/pool.ts';

const RESTART = 'restart';

/** How servers are shared with the other gateways of a fleet. */
interface ServerSharing {
  /** Opens a server here or through the gateway that runs it. */
  opener(open: OpenPeer): OpenPeer;
  /** Restarts a server that runs once at the gateway that runs it. */
  restartElsewhere(config: UpstreamConfig): Promise<void>;
  /** Serves others what the pool runs. */
  host(pool: UpstreamPool): void;
  /** Nothing more is done for others; resolves when what was begun is answered. */
  leave(): Promise<void>;
}

export async function serverSharing(fleet: Fleet, log: Logger): Promise<ServerSharing> {
  const [{ sharedOpener }, { Host }, { ownershipOf, placeOf, writePlace }] = await Promise.all([
    import('../../fleet/shared/shared-opener.ts'),
    import('../../fleet/shared/host.ts'),
    import('../../fleet/shared/server-place.ts'),
  ]);
  const { ownerships, line, replicas } = fleet;
  let leave = (): Promise<void> => Promise.resolve();
  return {
    opener: (open) => sharedOpener({ fleet, open, log }),
    async restartElsewhere(config) {
      const place = placeOf(config, undefined);
      if (place === undefined || ownerships.held(ownershipOf(place)) !== undefined) return;
      const asked = replicas.others().map(({ id }) => line.ask(id, RESTART, writePlace(place)));
      await Promise.allSettled(asked); // One of them runs it, or nobody does.
    },
    host(pool) {
      const host = new Host({ pool, ownerships, log });
      leave = () => host.leave();
      line.host((what, opening) => host.opened(what, opening));
      line.answer(RESTART, (what) => host.restart(what));
    },
    leave: () => leave(),
  };
}
