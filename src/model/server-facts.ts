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
}
