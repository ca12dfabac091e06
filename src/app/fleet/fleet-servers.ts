import type { UpstreamConfig } from '../../config/config.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { Logger } from '../../observability/log.ts';
import type { OpenServer } from '../../upstream/server-opener.ts';
import type { UpstreamPool } from '../../upstream/upstream-pool.ts';

/** The subject of requests that ask another replica to restart a server. */
const RESTART = 'restart';

/** Shares servers with the other replicas of the fleet. */
export interface FleetServers {
  /** Returns a function that opens a server with `open`, or through the replica that owns the server. */
  wrapOpener(open: OpenServer): OpenServer;
  /** Restarts a shared server on the replica that owns it. Does nothing if this replica owns the server or the server is not shared. */
  restartOnOwner(config: UpstreamConfig): Promise<void>;
  /** Lets other replicas use the servers of the pool that this replica owns. */
  serve(pool: UpstreamPool): void;
  /** Stops accepting requests from other replicas. Resolves when the accepted requests have finished. */
  drain(): Promise<void>;
}

export async function openFleetServers(fleet: Fleet, log: Logger): Promise<FleetServers> {
  const [
    { createSharedServerOpener },
    { OwnedServerHandler },
    { serializeSharedServer, toOwnershipName, toSharedServer },
  ] = await Promise.all([
    import('../../fleet/shared-servers/shared-server-opener.ts'),
    import('../../fleet/shared-servers/owned-server-handler.ts'),
    import('../../fleet/shared-servers/shared-server.ts'),
  ]);
  const { ownerships, transport, replicas } = fleet;
  let drain = (): Promise<void> => Promise.resolve();
  return {
    wrapOpener: (open) => createSharedServerOpener({ fleet, open, log }),
    async restartOnOwner(config) {
      const server = toSharedServer(config, undefined);
      if (server === undefined || ownerships.getHeld(toOwnershipName(server)) !== undefined) return;
      const body = serializeSharedServer(server);
      // At most one of the replicas owns the server, and the others ignore the request.
      await Promise.allSettled(replicas.others().map(({ id }) => transport.request(id, RESTART, body)));
    },
    serve(pool) {
      const handler = new OwnedServerHandler({ pool, ownerships, log });
      drain = () => handler.drain();
      transport.onChannel((request, context) => handler.acceptChannel(request, context));
      transport.onRequest(RESTART, (request) => handler.restart(request));
    },
    drain: () => drain(),
  };
}
