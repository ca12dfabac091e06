import type { Listing } from '../../catalog/listing.ts';
import type { ErrorCode, GatewayError } from '../../model/errors.ts';
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

interface Listed {
  readonly listing: Listing | undefined;
  /** Why it could not be listed when that was last tried. */
  readonly failure: GatewayError | undefined;
}

export function statusOf(
  name: UpstreamName,
  upstream: Upstream | undefined,
  { listing, failure }: Listed,
): UpstreamStatus {
  const problem = upstream && (problemOf(upstream.state) ?? unlistedProblem());
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

  /** Whoever waited for a list gave up before the connection did, or the server is there and does not say what it has. */
  function unlistedProblem(): UpstreamStatus['problem'] {
    const isMissed = listing === undefined || upstream?.state.at === 'connecting';
    return isMissed && failure !== undefined ? { code: failure.code, message: failure.message } : undefined;
  }
}

function problemOf(state: UpstreamState): UpstreamStatus['problem'] {
  if (!('error' in state) || state.error === undefined) return undefined;
  const { code, message } = state.error;
  if (state.at === 'waiting') return { code, message, retryAt: state.retryAt, attempts: state.attempt };
  return state.at === 'connecting' ? { code, message, attempts: state.attempt - 1 } : { code, message };
}
