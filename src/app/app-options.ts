import type { Readable, Writable } from 'node:stream';
import type { Logger, LogLevel } from '../observe/log.ts';

/** What the command line decided, and everything of the outside world that the gateway touches. */
export interface AppOptions {
  readonly file: string;
  readonly stateDir: string;
  /** An address, `true` for the configured one; absent for standard input and output. */
  readonly http: string | true | undefined;
  /** Instead of what the configuration says. */
  readonly expose: 'auto' | 'direct' | 'search' | undefined;
  readonly logger: (configured: LogLevel) => Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  readonly version: string;
  /** The file of word vectors, for searching. */
  readonly vectors: URL;
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/** The largest message that a server, or a client on standard input, may send. */
export const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;
