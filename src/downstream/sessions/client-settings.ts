import { isJsonObject } from '../../core/json.ts';
import { isLogLevel } from '../../core/log-level.ts';

/** The settings of a legacy session. The stored JSON has the same member names. */
export interface ClientSettings {
  /** The minimum level of log messages. */
  readonly level?: string | undefined;
  /** URIs of the resources that the client is subscribed to. */
  readonly follows: readonly string[];
  /** Tools that the client's searches have added to its list. */
  readonly revealed: readonly string[];
}

export type ClientSettingsChange =
  | { readonly level: string }
  | { readonly follow: string }
  | { readonly unfollow: string }
  | { readonly reveal: readonly string[] };

export const DEFAULT_CLIENT_SETTINGS: ClientSettings = { follows: [], revealed: [] };

const MAX_FOLLOWS = 1000;
const MAX_REVEALED = 2000;

/** Returns the settings after a change, or the same object if nothing changes. */
export function applySettingsChange(settings: ClientSettings, change: ClientSettingsChange): ClientSettings {
  if ('level' in change)
    return settings.level === change.level ? settings : { ...settings, level: change.level };
  if ('follow' in change) {
    const isUnchanged = settings.follows.includes(change.follow) || settings.follows.length >= MAX_FOLLOWS;
    return isUnchanged ? settings : { ...settings, follows: [...settings.follows, change.follow] };
  }
  if ('unfollow' in change) {
    const follows = settings.follows.filter((uri) => uri !== change.unfollow);
    return follows.length === settings.follows.length ? settings : { ...settings, follows };
  }
  const revealed = [...new Set([...settings.revealed, ...change.reveal])].slice(0, MAX_REVEALED);
  return revealed.length === settings.revealed.length ? settings : { ...settings, revealed };
}

/** Reads stored settings, which another version of the gateway may have written. */
export function parseClientSettings(value: unknown): ClientSettings {
  if (!isJsonObject(value)) return DEFAULT_CLIENT_SETTINGS;
  const { level, follows, revealed } = value;
  return {
    level: isLogLevel(level) ? level : undefined,
    follows: parseStrings(follows).slice(0, MAX_FOLLOWS),
    revealed: parseStrings(revealed).slice(0, MAX_REVEALED),
  };
}

function parseStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
