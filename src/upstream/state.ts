import { GatewayError } from '../model/errors.ts';
import type { ServerFacts } from '../model/server-facts.ts';
import { HttpStatusError } from '../wire/stream.ts';

/** The one state of one connection; the dashboard, the CLI, metrics and logs show this type and no other. */
export type UpstreamState =
  | { readonly at: 'idle' }
  | {
      readonly at: 'connecting';
      readonly attempt: number;
      readonly since: number;
      /** Why the attempt before failed: it is all that is known of the server until this one is over. */
      readonly error?: GatewayError;
    }
  | { readonly at: 'ready'; readonly attempt: number; readonly server: ServerFacts; readonly since: number }
  | {
      readonly at: 'waiting';
      readonly attempt: number;
      readonly retryAt: number;
      readonly error: GatewayError;
    }
  | { readonly at: 'needs-auth'; readonly error: GatewayError }
  /** A person has to agree to it first; nothing is broken. */
  | { readonly at: 'held'; readonly error: GatewayError }
  | { readonly at: 'failed'; readonly error: GatewayError }
  | { readonly at: 'closed' };

export type UpstreamEvent =
  | {
      readonly type: 'connect';
      readonly now: number;
      /** A person asked: earlier failures do not count. */
      readonly isFresh?: boolean;
    }
  | { readonly type: 'connected'; readonly server: ServerFacts; readonly now: number }
  | { readonly type: 'refused'; readonly error: GatewayError; readonly retryAt: number }
  | {
      readonly type: 'lost';
      readonly error: GatewayError;
      readonly now: number;
      readonly retryAt: number;
      /** Whether a call was answered on this connection. */
      readonly served: boolean;
    }
  | { readonly type: 'idle' }
  | { readonly type: 'close' };

/** A call that meets `waiting` joins the next attempt when it is due this soon. */
export const JOIN_WITHIN_MS = 2000;
/** A connection that lived shorter and answered nothing continues the count of failed attempts. */
const STABLE_AFTER_MS = 10_000;

/** Pure and total over what can happen; an event that a state cannot take is a bug of the owner. */
export function transition(state: UpstreamState, event: UpstreamEvent): UpstreamState {
  if (event.type === 'close') return { at: 'closed' };
  switch (state.at) {
    case 'idle':
    case 'needs-auth':
    case 'held':
    case 'failed':
      if (event.type === 'connect') return { at: 'connecting', attempt: 1, since: event.now };
      break;
    case 'waiting':
      if (event.type === 'connect') {
        const { attempt, error } = state;
        return event.isFresh === true
          ? { at: 'connecting', attempt: 1, since: event.now }
          : { at: 'connecting', attempt: attempt + 1, since: event.now, error };
      }
      break;
    case 'connecting':
      if (event.type === 'connected') {
        return { at: 'ready', attempt: state.attempt, server: event.server, since: event.now };
      }
      if (event.type === 'refused') return afterFailure(event.error, state.attempt, event.retryAt);
      break;
    case 'ready':
      if (event.type === 'idle') return { at: 'idle' };
      if (event.type === 'lost') {
        const isSignedOut = event.error.code === 'UPSTREAM_NEEDS_AUTH';
        const wasStable = event.served || event.now - state.since >= STABLE_AFTER_MS;
        return wasStable && !isSignedOut
          ? { at: 'idle' }
          : afterFailure(event.error, state.attempt, event.retryAt);
      }
      break;
    case 'closed':
      break;
  }
  throw new GatewayError('INVARIANT', `An upstream that is ${state.at} cannot take "${event.type}".`);
}

/** What waiting cannot mend is left only by a person or a changed config. */
function afterFailure(error: GatewayError, attempt: number, retryAt: number): UpstreamState {
  if (error.code === 'UPSTREAM_NEEDS_AUTH') return { at: 'needs-auth', error };
  if (error.code === 'QUARANTINED') return { at: 'held', error };
  return isPassing(error) ? { at: 'waiting', attempt, retryAt, error } : { at: 'failed', error };
}

/** What an address answers may be anything while the server behind it is exchanged, or a hotel wants a room number first. */
function isPassing({ traits, code, cause }: GatewayError): boolean {
  return traits.retry || code === 'UPSTREAM_PROTOCOL' || cause instanceof HttpStatusError;
}
