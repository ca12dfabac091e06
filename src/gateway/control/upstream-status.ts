import type { Listing } from '../../catalog/listing.ts';
import type { ErrorCode, GatewayError } from '../../core/errors.ts';
import type { FailureReason } from '../../core/failure-reason.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import type { UpstreamState } from '../../upstream/upstream-state.ts';
import type { Upstream } from '../../upstream/upstream.ts';

export interface UpstreamStatus {
  readonly name: UpstreamName;
  /** `installing` is the state `connecting` while a package launcher starts the server for the first time. */
  readonly state: UpstreamState['kind'] | 'installing';
  readonly tools: number;
  readonly prompts: number;
  readonly resources: number;
  /** Time of the last listing in milliseconds since 1970; absent before the first one. */
  readonly listedAt?: number | undefined;
  /** Number of requests that the server has not answered yet. */
  readonly inFlight: number;
  readonly pid?: number | undefined;
  readonly problem?: UpstreamProblem | undefined;
}

interface UpstreamProblem {
  readonly code: ErrorCode;
  readonly message: string;
  /** Time of the next automatic attempt to connect. */
  readonly retryAt?: number;
  /** Number of failed attempts. */
  readonly attempts?: number;
  readonly reason?: FailureReason | undefined;
  /** The message without the fix, for output that shows the fix in a place of its own. */
  readonly summary?: string | undefined;
  /** The command or edit that makes the server usable again. */
  readonly fix?: string | undefined;
}

interface ListingState {
  readonly listing: Listing | undefined;
  /** Why the last attempt to fetch the listing failed. */
  readonly failure: GatewayError | undefined;
}

export function describeUpstream(
  name: UpstreamName,
  upstream: Upstream | undefined,
  { listing, failure }: ListingState,
): UpstreamStatus {
  const problem =
    upstream && (connectionProblem(upstream.state) ?? listingProblem(upstream, { listing, failure }));
  return {
    name,
    state: upstream?.isInstalling === true ? 'installing' : (upstream?.state.kind ?? 'closed'),
    tools: listing?.tools.length ?? 0,
    prompts: listing?.prompts.length ?? 0,
    resources: listing?.resources.length ?? 0,
    inFlight: upstream?.inFlight ?? 0,
    listedAt: listing?.at,
    pid: upstream?.pid,
    problem,
  };
}

function connectionProblem(state: UpstreamState): UpstreamProblem | undefined {
  if (!('error' in state) || state.error === undefined) return undefined;
  const problem = describeError(state.error);
  if (state.kind === 'waiting') return { ...problem, retryAt: state.retryAt, attempts: state.attempt };
  // The current attempt has not failed yet.
  return state.kind === 'connecting' ? { ...problem, attempts: state.attempt - 1 } : problem;
}

/** Returns the listing failure if there is no connection error: the listing timed out while connecting, or the server rejected it. */
function listingProblem(upstream: Upstream, { listing, failure }: ListingState): UpstreamProblem | undefined {
  const isAffected = listing === undefined || upstream.state.kind === 'connecting';
  return isAffected && failure !== undefined ? describeError(failure) : undefined;
}

export function describeError({ code, message, details }: GatewayError): UpstreamProblem {
  // `toError` of upstream-errors.ts defines the types of these details. Other errors have a `reason` of other kinds and no `fix`.
  const { reason, summary, fix } = details as Pick<UpstreamProblem, 'reason' | 'summary' | 'fix'>;
  return fix === undefined ? { code, message } : { code, message, reason, summary, fix };
}

/** Descriptions of problems for clients, by error code. The message of the error itself is meant for the operator. */
const CLIENT_TEXTS: Partial<Readonly<Record<ErrorCode, string>>> = {
  QUARANTINED: 'is held for approval',
  UPSTREAM_NEEDS_AUTH: 'is not signed in',
  SECRET_MISSING: 'lacks a secret that its configuration names',
  UPSTREAM_REFUSED: 'cannot be started or rejects the connection',
  CONFIG_INVALID: 'is configured wrongly',
};

/** Returns what a person can do about a problem. */
function remedyOf(code: ErrorCode, name: UpstreamName): string {
  const quotedName = quoteShellWord(name);
  if (code === 'QUARANTINED') return 'review it with: trunkline approvals';
  if (code === 'UPSTREAM_NEEDS_AUTH') return `sign in with: trunkline login ${quotedName}`;
  if (code === 'SECRET_MISSING') return `set it, then run: trunkline restart ${quotedName}`;
  if (code === 'UPSTREAM_REFUSED' || code === 'CONFIG_INVALID')
    return `correct it with: trunkline edit ${quotedName}`;
  return `restart it with: trunkline restart ${quotedName}`;
}

/** Descriptions of servers that start, by state. */
const STARTING_TEXTS: Partial<Readonly<Record<UpstreamStatus['state'], string>>> = {
  connecting: 'is still starting',
  installing: 'is still being installed',
};

/** Returns why a server cannot be used or searched at present, as the end of a sentence that starts with its name. */
export function unavailableReason({ name, state, problem, listedAt }: UpstreamStatus): string | undefined {
  if (problem !== undefined) {
    const tools =
      listedAt === undefined ? 'its tools are not known' : 'its tools are those of its last listing';
    return `${CLIENT_TEXTS[problem.code] ?? 'is down'} (${remedyOf(problem.code, name)}); ${tools}`;
  }
  if (listedAt !== undefined) return undefined;
  const startingText = STARTING_TEXTS[state];
  return startingText === undefined
    ? 'has not sent its tools yet'
    : `${startingText}; its tools are not known`;
}
