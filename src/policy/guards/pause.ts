import { GatewayError } from '../../model/errors.ts';
import type { Guard } from '../call.ts';

/** Refuses every call while a person has paused serving; calls that were under way go on. */
export function pause(state: { readonly since: number | undefined }): Guard {
  return (call, next) => (state.since === undefined ? next(call) : Promise.reject(refusal()));
}

function refusal(): GatewayError {
  return new GatewayError(
    'PAUSED',
    'A person has paused this gateway, and nothing was called. Try again later; "trunkline resume" lets calls through again.',
  );
}
