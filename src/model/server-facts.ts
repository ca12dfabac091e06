import type { JsonObject } from './json.ts';

export type Era = 'legacy' | 'modern';

/** What an upstream said about itself in `initialize` or `server/discover`. */
export interface ServerFacts {
  readonly era: Era;
  readonly protocol: string;
  /** `serverInfo` as it came. */
  readonly info: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  /** `_meta` of what it said, less what is elsewhere in here. */
  readonly meta?: JsonObject;
  /** Lists that it declared by a capability and does not know. */
  readonly unserved?: readonly string[];
  /** `_meta` of its lists, by method, less what is elsewhere in here. */
  readonly listMeta?: Readonly<Record<string, JsonObject>>;
}
