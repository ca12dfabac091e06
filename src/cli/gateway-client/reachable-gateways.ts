import { createAdminClient } from '../../admin/admin-client.ts';
import { listGatewayRecords } from '../../app/shared-gateway/gateway-record.ts';
import type { GatewayRecord } from '../../app/shared-gateway/gateway-record.ts';
import type { GatewayConnection } from './gateway-connection.ts';

export interface ReachableGateway {
  readonly connection: GatewayConnection;
  readonly record: GatewayRecord;
}

const HEALTH_TIMEOUT_MS = 5000;

/** Connects to every gateway of this state folder that answers. The first one is the gateway that clients use. */
export async function findReachableGateways(stateDir: string): Promise<readonly ReachableGateway[]> {
  const gateways = await Promise.all(listGatewayRecords(stateDir).map(connectToRecord));
  return gateways.filter((gateway) => gateway !== undefined);
}

/** Connects to the gateway that wrote this record. Returns undefined if that gateway no longer answers. */
export async function connectToRecord(record: GatewayRecord): Promise<ReachableGateway | undefined> {
  const { createSocketFetch } = await import('../../app/shared-gateway/socket-fetch.ts');
  const client = createAdminClient(createSocketFetch(record.socket));
  try {
    await client.request('GET /api/health', {}, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
  } catch {
    return undefined; // A crashed gateway leaves its record behind.
  }
  const connection: GatewayConnection = {
    client,
    target: 'running',
    config: record.config,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return { connection, record };
}

/** Returns the `others` member of JSON output: the gateways besides the one that clients use. It is absent if there are none. */
export function otherGatewaysToJson(others: readonly ReachableGateway[]): {
  readonly others?: readonly {
    readonly pid: number;
    readonly kind: GatewayRecord['kind'];
    readonly url: string | undefined;
  }[];
} {
  if (others.length === 0) return {};
  return { others: others.map(({ record: { pid, kind, url } }) => ({ pid, kind, url })) };
}
