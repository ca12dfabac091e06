import type { ErrorCode } from '../model/errors.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { UpstreamState } from '../upstream/state.ts';

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
  readonly problem?: { readonly code: ErrorCode; readonly message: string; readonly retryAt?: number };
}

export function problemOf(state: UpstreamState): UpstreamStatus['problem'] {
  if (state.at !== 'waiting' && state.at !== 'needs-auth' && state.at !== 'failed') return undefined;
  const { code, message } = state.error;
  return state.at === 'waiting' ? { code, message, retryAt: state.retryAt } : { code, message };
}
