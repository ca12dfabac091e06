import type { Payload } from '../../lib/payload.ts';
import type { Caller } from '../../model/caller.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Call, Guard, Next } from '../call.ts';
import type { CallerPolicy } from '../decide.ts';
import type { Ask } from '../permission.ts';

/**
 * Decides about every call once more, with the function that decided what the caller sees, so that no way to a call can
 * forget to. What a rule wants a person to agree to waits here.
 */
export function permit(options: {
  readonly policyFor: (caller: Caller) => CallerPolicy;
  readonly ask: Ask;
}): Guard {
  const { policyFor, ask } = options;
  return (call, next) => {
    const { entry } = call.operation;
    const own = policyFor(call.caller);
    if (entry === undefined || own.isOpen) return next(call);
    const decision = own.decide(entry);
    if (decision.verdict === 'hide') return Promise.reject(unknown(call));
    return decision.verdict === 'ask' ? afterAsking(call, decision, next) : next(call);
  };
  async function afterAsking(call: Call, decision: Parameters<Ask>[1], next: Next): Promise<Payload> {
    await ask(call, decision);
    return next(call);
  }
}

/** In the words that are used for what does not exist. */
function unknown({ operation: { kind, entry } }: Call): GatewayError {
  const name = entry !== undefined && 'name' in entry ? entry.name : '';
  return new GatewayError('ENTRY_NOT_FOUND', `Unknown ${kind}: ${name}.`, { details: { kind } });
}
