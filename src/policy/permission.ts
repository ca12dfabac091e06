import type { Call } from './call.ts';
import type { Decision } from './decide.ts';

/** Asks a person about a call: resolves when it may go on, and fails when it may not. */
export type Ask = (call: Call, decision: Extract<Decision, { verdict: 'ask' }>) => Promise<void>;
