import type { JsonObject } from '../../core/json.ts';

/** Whether the running gateway uses a change. */
export type ApplyResult =
  /** There was nothing to change. */
  | { readonly state: 'unchanged' }
  /** `isShared`: the change is in the database for all gateways, and not in the file. */
  | { readonly state: 'applied'; readonly isShared?: boolean | undefined }
  /** The change is in the file, but no gateway uses it yet. */
  | { readonly state: 'later'; readonly reason: string };

export interface AddServersResult {
  readonly dryRun: boolean;
  readonly results: readonly AddServerResult[];
  readonly applied: ApplyResult;
  readonly revision: string;
}

export interface AddServerResult {
  readonly name: string;
  /** `same`: the server exists already; `refused`: `reason` explains why. */
  readonly result: 'added' | 'same' | 'refused';
  readonly reason?: string;
  /** `manual`: the server is held, and starts only after its approval. */
  readonly trust?: ServerTrust;
  /** The entry as it is written, with masked secrets. */
  readonly entry?: JsonObject;
  /** Notes for the user, such as variables that must be set or secrets in plain text. */
  readonly remarks: readonly string[];
}

/** The approval mode of a server. */
export type ServerTrust = 'first-sight' | 'manual' | 'scan';

export interface ChangeServerResult {
  readonly name: string;
  /** The keys that have changed, such as `env.TOKEN`, without their values. */
  readonly changed: readonly string[];
  /** Whether the server is held for approval because of the change. */
  readonly isHeld: boolean;
  readonly applied: ApplyResult;
  readonly revision: string;
}

/** The entry of one server. */
export interface ServerEntryView {
  readonly name: string;
  /** The entry as it is written in the file, with `•••` for secrets; references are not masked. */
  readonly entry: JsonObject;
  readonly revision: string;
  readonly enabled: boolean;
  readonly trust: ServerTrust;
}

/** The state of the configuration file. */
export interface ConfigFileState {
  /** Absolute. */
  readonly file: string;
  /** Revision of the current text; an edit that expects another one is rejected. */
  readonly revision: string;
  /** Whether programs must not change the file. */
  readonly readOnly: boolean;
  /** Whether models have tools to change servers. */
  readonly management: boolean;
}
