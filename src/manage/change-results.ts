import type { JsonObject } from '../model/json.ts';

/** What became of a change in the running gateway. */
export type Applied =
  /** Nothing was different. */
  | { readonly state: 'unchanged' }
  /** `isShared`: it is in the database for all gateways, and not in the file. */
  | { readonly state: 'applied'; readonly isShared?: boolean }
  /** It is in the file; no gateway runs with it yet. */
  | { readonly state: 'later'; readonly reason: string };

export interface AddedServers {
  readonly dryRun: boolean;
  readonly results: readonly AddedServer[];
  readonly applied: Applied;
  readonly revision: string;
}

export interface AddedServer {
  readonly name: string;
  /** `same`: it is there already; `refused`: `reason` says why. */
  readonly result: 'added' | 'same' | 'refused';
  readonly reason?: string;
  /** `manual`: it waits for a person's approval before anything of it is started. */
  readonly trust?: Trust;
  /** As it is written, secrets not shown. */
  readonly entry?: JsonObject;
  /** What a person should know, such as variables that must be set or secrets in plain text. */
  readonly remarks: readonly string[];
}

/** Who approves what a server offers. */
export type Trust = 'first-sight' | 'manual' | 'scan';

export interface ChangedServer {
  readonly name: string;
  /** Which keys are different now, such as `env.TOKEN`; values are not repeated. */
  readonly changed: readonly string[];
  /** Whether it waits for a person because of the change. */
  readonly isHeld: boolean;
  readonly applied: Applied;
  readonly revision: string;
}

/** The entry of one server. */
export interface ServerEntryShown {
  readonly name: string;
  /** As it stands in the file; a secret is `•••`, a reference stays one. */
  readonly entry: JsonObject;
  readonly revision: string;
  readonly enabled: boolean;
  readonly trust: Trust;
}

/** The file that everything comes from. */
export interface ConfigState {
  /** Absolute. */
  readonly file: string;
  /** Of the text in the file now; an edit that names another one is refused. */
  readonly revision: string;
  /** Nothing can be changed by program. */
  readonly readOnly: boolean;
  /** Models have tools to change servers. */
  readonly management: boolean;
}
