import { connectToGateway } from './connect-to-gateway.ts';
import { findGatewayRecord } from './gateway-record.ts';
import type { GatewayRecord } from './gateway-record.ts';
import { matchesIdentity, couldMatchAfterReload } from './gateway-identity.ts';
import type { SharedGatewayIdentity } from './gateway-identity.ts';

/**
 * Returns the record of the gateway that this client may use, or undefined if there is none. A gateway applies a changed configuration
 * by itself within about a second; a client that arrives earlier asks it to reload now.
 */
export async function findRunningGateway(
  stateDir: string,
  identity: SharedGatewayIdentity,
  unreachable?: ReadonlySet<number>,
): Promise<GatewayRecord | undefined> {
  const record = findGatewayRecord(stateDir, unreachable);
  if (record === undefined || matchesIdentity(record, identity)) return record;
  if (!couldMatchAfterReload(record, identity)) return undefined;
  // Failures are ignored: the gateway may have stopped, or may reject the new text.
  const pipe = await connectToGateway(record.socket, { refresh: true }).catch(() => undefined);
  pipe?.socket.destroy();
  const reloaded = findGatewayRecord(stateDir, unreachable);
  return reloaded !== undefined && matchesIdentity(reloaded, identity) ? reloaded : undefined;
}
