import type { Readable, Writable } from 'node:stream';
import type { LevelSource, Logger } from '../observe/log.ts';
import type { WrapClient } from './read-client.ts';

/** What the command line decided, and everything of the outside world that the gateway touches. */
export interface AppOptions {
  readonly file: string;
  /** The configuration itself, where it is on the command line or in a variable and `file` does not exist. */
  readonly text?: string | undefined;
  /** Whether `text` is a configuration like a file's, which is kept in a variable: what its servers offer is approved and logged as usual. */
  readonly isInline?: boolean | undefined;
  readonly stateDir: string;
  /** Where servers without `cwd` run; absent for the folder of this process. */
  readonly folder?: string | undefined;
  /** Where it is written which files a person trusts; absent where this one needs no trust. */
  readonly trustedIn?: string | undefined;
  /** `nobody`: only the process itself asks, through `App.admin`, and nothing is listed before it is asked for. */
  readonly listen?: 'nobody' | 'socket' | undefined;
  /** Where the user's gateway listens for pipes and commands; absent where this process is nobody's gateway but its own. */
  readonly socket?: string | undefined;
  /** One server alone for the one client at standard input, whom it is told about in the client's own words. */
  readonly wrapped?:
    | {
        readonly name: string;
        readonly client: WrapClient;
        /** What the server writes to its standard error. */
        readonly onStderr: (chunk: Buffer) => void;
      }
    | undefined;
  /** Servers of the command line, beside or instead of those of the file. */
  readonly servers?: Readonly<Record<string, unknown>> | undefined;
  /** An address, `true` for the configured one; absent for standard input and output. */
  readonly http: string | true | undefined;
  /** Of the client at standard input and output. */
  readonly profile?: string | undefined;
  /** Instead of what the configuration says. */
  readonly expose: 'auto' | 'direct' | 'search' | 'code' | undefined;
  readonly logger: (configured: LevelSource) => Logger;
  /** Calls it when the process is asked to end; absent where somebody else decides when. */
  readonly onStopSignal?: (stop: () => void) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  readonly version: string;
  /** Of the program as it was built: what one build remembers another one may not understand. */
  readonly build: string;
  /** The file of word vectors, for searching. */
  readonly vectors: URL;
  /** The entry of the thread that scripts run in. */
  readonly codeWorker: URL;
  /** The entry of the thread that keeps the record of operations. */
  readonly auditWorker: URL;
  /** The folder of the dashboard's files. */
  readonly web: URL;
  /** The file that describes the admin API. */
  readonly openapi: URL;
  /** Node's own `import`, for modules that a person wrote. */
  readonly importModule: (url: string) => Promise<unknown>;
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/** Whether a person has just typed the servers, which are then as good as approved and write to the terminal. */
export function isTyped({ wrapped, text, isInline }: AppOptions): boolean {
  return wrapped !== undefined || (text !== undefined && isInline !== true);
}

/** The largest message that a server, or a client on standard input, may send. */
export const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;
