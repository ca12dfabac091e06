import { adminClient } from '../../admin/client.ts';
import type { GatewayRecord } from '../../attach/gateway-record.ts';
import type { Line } from './line.ts';

export interface ReachedGateway {
  readonly line: Line;
  readonly record: GatewayRecord;
}

/** A line to the gateway that wrote this record; undefined when it is no more. */
export async function lineToRecord(record: GatewayRecord): Promise<ReachedGateway | undefined> {
  const { socketSend } = await import('../../attach/socket-send.ts');
  const client = adminClient(socketSend(record.socket));
  try {
    await client.ask('GET /api/health', {}, { signal: AbortSignal.timeout(HEALTH_WITHIN_MS) });
  } catch {
    return undefined; // Its record is what a crash left behind.
  }
  const line: Line = {
    client,
    to: 'gateway',
    config: record.config,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return { line, record };
}

const HEALTH_WITHIN_MS = 5000;
