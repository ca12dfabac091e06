import type { ConfigSnapshot } from '../config/config.ts';
import type { Scope } from '../core/lib/scope.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { createFleetBus } from '../fleet/fleet-bus.ts';
import type { SubscriptionSync } from '../gateway/calls/resource-subscriptions.ts';

/** Lets the replicas of a fleet subscribe to resources for each other; the code is loaded only in a fleet. */
export async function openReplicaSubscriptions(
  fleet: Pick<Fleet, 'replicas' | 'transport'>,
  config: () => ConfigSnapshot,
  scope: Scope,
): Promise<SubscriptionSync> {
  const { ReplicaSubscriptions } = await import('../gateway/calls/replica-subscriptions.ts');
  const subscriptions = new ReplicaSubscriptions({
    replicas: createFleetBus(fleet),
    onReplicasChanged: (listener) => fleet.replicas.onChange(listener),
    // An HTTP server, and a server that the fleet shares, is the same for all replicas. Of other servers, each replica has its own process.
    hasOwnProcess: (name) => {
      const found = config().value.upstreams.find((upstream) => upstream.name === name);
      return found !== undefined && found.transport.kind !== 'http' && found.share !== 'fleet';
    },
  });
  scope.defer(() => subscriptions[Symbol.dispose]());
  return subscriptions;
}
