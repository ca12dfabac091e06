import { SessionLine } from './between/session-line.ts';
import type { LineDeps } from './between/session-line.ts';
import type { SessionMemory } from './kept-session.ts';
import { SealedIds } from './sealed-ids.ts';
import { Sessions } from './sessions.ts';
import type { SessionOptions } from './sessions.ts';

/** By what sessions outlive a process, and are served by several. */
export interface KeepingOptions {
  /** What ids are sealed with; unless given, sessions end with this process. */
  readonly sessionSecret?: (() => Promise<Buffer>) | undefined;
  readonly sessionMemory?: SessionMemory | undefined;
  /** Others that serve the same clients. */
  readonly between?: Pick<LineDeps, 'others' | 'places'> | undefined;
}

export function openSessions(
  { sessionSecret: secret, sessionMemory: memory, between }: KeepingOptions,
  options: Omit<SessionOptions, 'ids' | 'memory' | 'line'>,
): Sessions {
  const { now, log } = options;
  return new Sessions({
    ...options,
    ids: new SealedIds({ secret, now }),
    memory,
    line: between && ((here) => new SessionLine({ ...between, ...here, log })),
  });
}
