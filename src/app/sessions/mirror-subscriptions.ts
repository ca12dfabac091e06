import type { ConfigSnapshot } from '../../config/config.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { SubscribedElsewhere } from '../../gateway/calls/subscriptions.ts';
import type { Scope } from '../../lib/scope.ts';
import { othersOf } from './others-of.ts';

/** Lets the gateways of a fleet follow resources for each other; loaded where there is one. */
export async function mirrorSubscriptions(
  fleet: Pick<Fleet, 'replicas' | 'line'>,
  config: () => ConfigSnapshot,
  scope: Scope,
): Promise<SubscribedElsewhere> {
  const { MirroredSubscriptions } = await import('./mirrored-subscriptions.ts');
  const mirrored = new MirroredSubscriptions({
    others: othersOf(fleet),
    onChange: (listener) => fleet.replicas.onChange(listener),
    // A server at an address is the same for all of us, and so is a process that all of us share.
    isOwnProcess: (name) => {
      const found = config().value.upstreams.find((upstream) => upstream.name === name);
      return found !== undefined && found.transport.kind !== 'http' && found.share !== 'fleet';
    },
  });
  scope.defer(() => mirrored[Symbol.dispose]());
  return mirrored;
}
