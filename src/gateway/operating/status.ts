import type { Listing } from '../../catalog/listing.ts';
import type { ErrorCode } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { UpstreamState } from '../../upstream/state.ts';
import type { Upstream } from '../../upstream/upstream.ts';

export interface UpstreamStatus {
  readonly name: UpstreamName;
  readonly state: UpstreamState['at'];
  readonly tools: number;
  readonly prompts: number;
  readonly resources: number;
  /** When its listing was made; absent before the first one. */
  readonly listedAt?: number;
  readonly inFlight: number;
  readonly pid?: number;
  readonly problem?: {
    readonly code: ErrorCode;
    readonly message: string;
    /** When it is tried again by itself, and how often it was tried in vain. */
    readonly retryAt?: number;
    readonly attempts?: number;
  };
}

export function statusOf(
  name: UpstreamName,
  upstream: Upstream | undefined,
  listing: Listing | undefined,
): UpstreamStatus {
  const problem = upstream === undefined ? undefined : problemOf(upstream.state);
  return {
    name,
    state: upstream?.state.at ?? 'closed',
    tools: listing?.tools.length ?? 0,
    prompts: listing?.prompts.length ?? 0,
    resources: listing?.resources.length ?? 0,
    inFlight: upstream?.inFlight ?? 0,
    ...(listing === undefined ? {} : { listedAt: listing.at }),
    ...(upstream?.pid === undefined ? {} : { pid: upstream.pid }),
    ...(problem === undefined ? {} : { problem }),
  };
}

function problemOf(state: UpstreamState): UpstreamStatus['problem'] {
  if (!('error' in state)) return undefined;
  const { code, message } = state.error;
  if (state.at !== 'waiting') return { code, message };
  return { code, message, retryAt: state.retryAt, attempts: state.attempt };
}
