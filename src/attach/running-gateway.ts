import { dial } from './dial.ts';
import { readRecord } from './gateway-record.ts';
import type { GatewayRecord } from './gateway-record.ts';
import { isSame, isSameButForText } from './identity.ts';
import type { Identity } from './identity.ts';

/**
 * The record of the gateway that such a client may use; undefined when there is none. A gateway takes a changed configuration
 * into use by itself, a moment later; whoever comes within that moment asks it to do so now.
 */
export async function runningGateway(
  stateDir: string,
  identity: Identity,
  unreachable?: ReadonlySet<number>,
): Promise<GatewayRecord | undefined> {
  const record = readRecord(stateDir, unreachable);
  if (record === undefined || isSame(record, identity)) return record;
  if (!isSameButForText(record, identity)) return undefined;
  // Best effort: it may be gone, or may find the text wrong.
  const dialled = await dial(record.socket, { refresh: true }).catch(() => undefined);
  dialled?.socket.destroy();
  const after = readRecord(stateDir, unreachable);
  return after !== undefined && isSame(after, identity) ? after : undefined;
}
