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
    // HTTP servers and servers that the fleet shares are the same for all replicas. Each replica runs its own process of any other server.
    hasOwnProcess: (name) => {
      const found = config().value.upstreams.find((upstream) => upstream.name === name);
      return found !== undefined && found.transport.kind !== 'http' && found.share !== 'fleet';
    },
  });
  scope.defer(() => subscriptions[Symbol.dispose]());
  return subscriptions;
}
