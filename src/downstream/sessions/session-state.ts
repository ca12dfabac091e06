import { isJsonObject } from '../../model/json.ts';
import { isLogLevel } from '../../model/log-level.ts';

/** What a client has set in its session since it opened it. */
export interface SessionState {
  /** From which level on it wants log messages. */
  readonly level?: string | undefined;
  /** Resources that it is told about. */
  readonly follows: readonly string[];
  /** Tools that its searches have added to its list. */
  readonly revealed: readonly string[];
}

export type SessionChange =
  | { readonly level: string }
  | { readonly follow: string }
  | { readonly unfollow: string }
  | { readonly reveal: readonly string[] };

export const NEW_SESSION: SessionState = { follows: [], revealed: [] };

const MAX_FOLLOWS = 1000;
const MAX_REVEALED = 2000;

/** The state after a change; the same object when it changes nothing. */
export function changedState(state: SessionState, change: SessionChange): SessionState {
  if ('level' in change) return state.level === change.level ? state : { ...state, level: change.level };
  if ('follow' in change) {
    const isKnown = state.follows.includes(change.follow) || state.follows.length >= MAX_FOLLOWS;
    return isKnown ? state : { ...state, follows: [...state.follows, change.follow] };
  }
  if ('unfollow' in change) {
    const follows = state.follows.filter((uri) => uri !== change.unfollow);
    return follows.length === state.follows.length ? state : { ...state, follows };
  }
  const revealed = [...new Set([...state.revealed, ...change.reveal])].slice(0, MAX_REVEALED);
  return revealed.length === state.revealed.length ? state : { ...state, revealed };
}

/** What was written down, by whichever version of the program. */
export function readState(value: unknown): SessionState {
  if (!isJsonObject(value)) return NEW_SESSION;
  const { level, follows, revealed } = value;
  return {
    ...(isLogLevel(level) && { level }),
    follows: strings(follows).slice(0, MAX_FOLLOWS),
    revealed: strings(revealed).slice(0, MAX_REVEALED),
  };
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}
