import type { ReplicaBus } from '../core/replica-bus.ts';
import type { Fleet } from './fleet.ts';

/** Lets sessions and subscriptions send messages to the other replicas of the fleet. */
export function createFleetBus({ replicas, transport }: Pick<Fleet, 'replicas' | 'transport'>): ReplicaBus {
  return {
    self: replicas.self.id,
    others: () => replicas.others().map(({ id }) => id),
    request: (replica, subject, body, options) => transport.request(replica, subject, body, options),
    onRequest: (subject, handler) => transport.onRequest(subject, handler),
  };
}
