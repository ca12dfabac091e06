import { readRecords } from '../../attach/gateway-record.ts';
import type { GatewayRecord } from '../../attach/gateway-record.ts';
import { lineToRecord } from './line-to-record.ts';
import type { ReachedGateway } from './line-to-record.ts';

/** Lines to the gateways of this state folder that answer; the first is the one that clients use. */
export async function linesToGateways(stateDir: string): Promise<readonly ReachedGateway[]> {
  const reached = await Promise.all(readRecords(stateDir).map(lineToRecord));
  return reached.filter((each) => each !== undefined);
}

/** What programs are told of gateways beside the one that clients use; nothing where there are none. */
export function othersShown(others: readonly ReachedGateway[]): {
  readonly others?: readonly Pick<GatewayRecord, 'pid' | 'kind' | 'url'>[];
} {
  if (others.length === 0) return {};
  return {
    others: others.map(({ record: { pid, kind, url } }) => ({
      pid,
      kind,
      ...(url !== undefined && { url }),
    })),
  };
}
