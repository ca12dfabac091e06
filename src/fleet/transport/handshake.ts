import { isJsonObject } from '../../core/json.ts';
import type { Frame } from './frame.ts';
import type { ReplicaConnection } from './replica-connection.ts';

/** The version of the protocol between replicas. Gateways with different versions refuse to communicate. */
const PROTOCOL = 1;
/** The ids of replicas appear in logs and in the ids of messages, so other characters are rejected. */
const REPLICA_ID = /^[\w-]{1,64}$/;

/**
 * The handshake of the other end, or the problem for which it is rejected. `from` is the id of the other end.
 * `to` is the id that the connecting end expects; the listening end does not send it.
 */
export type Handshake =
  | { readonly from: string; readonly to: string | undefined }
  | { readonly problem: string };

/** Sends the first frame of each end: the id of this replica and, from the connecting end, the id of the replica that it expects. */
export function sendHandshake(
  connection: ReplicaConnection,
  ids: { readonly from: string; readonly to?: string },
): void {
  connection.send(['hello', { protocol: PROTOCOL, ...ids }]);
}

/** Checks the first frame that the other end sends. */
export function parseHandshake({ head: [kind, content] }: Frame): Handshake {
  if (kind !== 'hello' || !isJsonObject(content))
    return { problem: 'The other gateway did not start with a handshake.' };
  const { protocol, from, to } = content;
  if (protocol !== PROTOCOL)
    return {
      problem: `The other gateway uses ${typeof protocol === 'number' ? `version ${protocol}` : 'an unknown version'} of the protocol between gateways, and this one uses version ${PROTOCOL}. Run the same version of Trunkline on both.`,
    };
  if (typeof from !== 'string' || !REPLICA_ID.test(from))
    return { problem: 'The handshake of the other gateway has no valid id.' };
  return { from, to: typeof to === 'string' ? to : undefined };
}
