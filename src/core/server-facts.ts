import type { JsonObject } from './json.ts';

/** The generation of the MCP protocol: `legacy` servers use `initialize`, `modern` ones `server/discover`. */
export type Era = 'legacy' | 'modern';

/** The description that an upstream gave of itself in `initialize` or `server/discover`. */
export interface ServerFacts {
  readonly era: Era;
  readonly protocol: string;
  /** `serverInfo`, unchanged. */
  readonly info: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions?: string | undefined;
  /** `_meta` of its `initialize` or `server/discover` response, without the members that are fields here. */
  readonly meta?: JsonObject | undefined;
  /** List methods that its capabilities promise but that it does not implement. */
  readonly unserved?: readonly string[] | undefined;
  /** `_meta` of its list responses by method, without the members that are fields here. */
  readonly listMeta?: Readonly<Record<string, JsonObject>> | undefined;
}
