import { backoff } from '../core/lib/backoff.ts';
import { GatewayError } from '../core/errors.ts';
import type { ServerFacts } from '../core/server-facts.ts';
import { HttpStatusError } from '../protocol/client-transport.ts';

/** The state of one upstream, as the dashboard, the CLI, the metrics and the logs show it. Times are in milliseconds since the epoch. */
export type UpstreamState =
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'connecting';
      readonly attempt: number;
      readonly since: number;
      /** Whether a package launcher starts the server for the first time, so that its package probably has to be installed. */
      readonly isInstalling?: true;
      /** The error of the previous attempt, until the outcome of this one is known. */
      readonly error?: GatewayError | undefined;
    }
  | { readonly kind: 'ready'; readonly attempt: number; readonly server: ServerFacts; readonly since: number }
  | {
      readonly kind: 'waiting';
      readonly attempt: number;
      readonly retryAt: number;
      readonly error: GatewayError;
    }
  | { readonly kind: 'needs-auth'; readonly error: GatewayError }
  /** The server does not start until a person approves it; this is not a failure. */
  | { readonly kind: 'held'; readonly error: GatewayError }
  | { readonly kind: 'failed'; readonly error: GatewayError }
  | { readonly kind: 'closed' };

export type UpstreamEvent =
  | {
      readonly type: 'connect';
      readonly now: number;
      /** Whether the attempt starts a new series, because a person asked for it. If so, earlier failures do not count. */
      readonly isFresh?: boolean;
    }
  | { readonly type: 'install' }
  | { readonly type: 'connected'; readonly server: ServerFacts; readonly now: number }
  /** Without `retryAt`, the failure lasts until a person acts. */
  | { readonly type: 'refused'; readonly error: GatewayError; readonly retryAt: number | undefined }
  | {
      readonly type: 'lost';
      readonly error: GatewayError;
      readonly now: number;
      readonly retryAt: number;
      /** Whether the connection has answered a call. */
      readonly hasServed: boolean;
    }
  | { readonly type: 'idle' }
  | { readonly type: 'close' };

/** In state `waiting`, a call waits for the next attempt if the attempt is due within this time; otherwise the call fails at once. */
export const MAX_RETRY_WAIT_MS = 2000;
/** A connection that ended earlier than this and answered no call counts as a failed attempt. */
const STABLE_AFTER_MS = 10_000;

/** Returns the next state. Throws for an event that cannot happen in a state, which is a bug of the caller. */
export function transition(state: UpstreamState, event: UpstreamEvent): UpstreamState {
  if (event.type === 'close') return { kind: 'closed' };
  switch (state.kind) {
    case 'idle':
    case 'needs-auth':
    case 'held':
    case 'failed':
      if (event.type === 'connect') return { kind: 'connecting', attempt: 1, since: event.now };
      break;
    case 'waiting':
      if (event.type === 'connect') {
        const { attempt, error } = state;
        return event.isFresh === true
          ? { kind: 'connecting', attempt: 1, since: event.now }
          : { kind: 'connecting', attempt: attempt + 1, since: event.now, error };
      }
      break;
    case 'connecting':
      if (event.type === 'connected') {
        return { kind: 'ready', attempt: state.attempt, server: event.server, since: event.now };
      }
      if (event.type === 'install') return { ...state, isInstalling: true };
      if (event.type === 'refused') return afterFailure(event.error, state.attempt, event.retryAt);
      break;
    case 'ready':
      if (event.type === 'idle') return { kind: 'idle' };
      if (event.type === 'lost') {
        const isSignedOut = event.error.code === 'UPSTREAM_NEEDS_AUTH';
        // After a stable connection the next call simply reconnects; otherwise the back-off continues with the next attempt.
        const wasStable = event.hasServed || event.now - state.since >= STABLE_AFTER_MS;
        return wasStable && !isSignedOut
          ? { kind: 'idle' }
          : afterFailure(event.error, state.attempt, event.retryAt);
      }
      break;
    case 'closed':
      break;
  }
  throw new GatewayError(
    'INVARIANT',
    `An upstream in state "${state.kind}" cannot handle event "${event.type}".`,
  );
}

/**
 * Returns the state after a failure. Only `waiting` leads to another attempt by itself. The other states last until a person acts or the
 * configuration changes.
 */
function afterFailure(error: GatewayError, attempt: number, retryAt: number | undefined): UpstreamState {
  if (error.code === 'UPSTREAM_NEEDS_AUTH') return { kind: 'needs-auth', error };
  if (error.code === 'QUARANTINED') return { kind: 'held', error };
  return retryAt !== undefined && isTemporary(error)
    ? { kind: 'waiting', attempt, retryAt, error }
    : { kind: 'failed', error };
}

/** Unexpected HTTP responses count as temporary: the server may be restarting, or a captive portal may answer in its place. */
function isTemporary({ traits, code, cause }: GatewayError): boolean {
  return traits.isRetryable || code === 'UPSTREAM_PROTOCOL' || cause instanceof HttpStatusError;
}

interface RetryScheduleOptions {
  readonly now: () => number;
  readonly random?: (() => number) | undefined;
  /** Whether refused attempts are repeated; the default is true. */
  readonly isRetrying?: boolean | undefined;
  readonly onDue: () => void;
}

/** Schedules the next connection attempt of an upstream that waits. */
export class RetrySchedule {
  readonly #options: RetryScheduleOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RetryScheduleOptions) {
    this.#options = options;
  }

  /** Returns the time of the attempt after this one. The delay is random, between 0 and a bound that doubles from 0.5 s up to 60 s. */
  retryTimeAfter(attempt: number): number {
    const { now, random } = this.#options;
    return now() + backoff(attempt, { baseMs: 500, maxMs: 60_000, random });
  }

  /** Returns the time of the attempt after one that was refused; undefined if refused attempts are not repeated. */
  timeAfterRefusal(attempt: number): number | undefined {
    return this.#options.isRetrying === false ? undefined : this.retryTimeAfter(attempt);
  }

  schedule(state: UpstreamState): void {
    if (state.kind !== 'waiting') return;
    const { now, onDue } = this.#options;
    this.#timer = setTimeout(onDue, Math.max(0, state.retryAt - now())).unref();
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}
