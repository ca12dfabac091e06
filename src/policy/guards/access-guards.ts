import type { Caller } from '../../core/caller.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Payload } from '../../core/lib/payload.ts';
import type { CallerPolicy, Decision } from '../caller-policy.ts';
import type { Call, Guard, Next } from '../guard.ts';

/** Rejects every new call while serving is paused. Calls that are already running continue. */
export function pauseGuard(state: { readonly since: number | undefined }): Guard {
  return (call, next) => (state.since === undefined ? next(call) : Promise.reject(pausedError()));
}

function pausedError(): GatewayError {
  return new GatewayError(
    'PAUSED',
    'This gateway is paused, and the call was not made. Retry later; "trunkline resume" ends the pause.',
  );
}

/** Waits until a person approves the call. Rejects if a person refuses it, nobody answers in time, or nobody can be asked. */
export type ApproveCall = (call: Call, decision: AskDecision) => Promise<void>;

type AskDecision = Extract<Decision, { verdict: 'ask' }>;

/**
 * Applies the policy to every call that concerns an entry. The same function decides which entries the caller sees, so an entry that is
 * hidden in lists cannot be called either.
 */
export function permissionGuard(options: {
  readonly policyFor: (caller: Caller) => CallerPolicy;
  readonly approve: ApproveCall;
}): Guard {
  const { policyFor, approve } = options;
  return (call, next) => {
    const { entry } = call.operation;
    const policy = policyFor(call.caller);
    if (entry === undefined || policy.isUnrestricted) return next(call);
    const decision = policy.decide(entry);
    if (decision.verdict === 'hide') return Promise.reject(hiddenEntryError(call));
    return decision.verdict === 'ask' ? approveAndContinue(call, decision, next) : next(call);
  };
  async function approveAndContinue(call: Call, decision: AskDecision, next: Next): Promise<Payload> {
    await approve(call, decision);
    return next(call);
  }
}

/** Returns the error for a hidden entry. It says that the entry is unknown, because the caller must not learn that the entry exists. */
function hiddenEntryError({ operation: { kind, entry } }: Call): GatewayError {
  const name = entry !== undefined && 'name' in entry ? entry.name : '';
  return new GatewayError('ENTRY_NOT_FOUND', `Unknown ${kind}: ${name}.`, { details: { kind } });
}
