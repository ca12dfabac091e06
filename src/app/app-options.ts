import type { Readable, Writable } from 'node:stream';
import type { LevelSource, Logger } from '../observability/log.ts';
import type { StdioClientDescription } from './read-client-description.ts';

/** The options of the command line, and everything that the gateway needs from its process, such as environment and streams. */
export interface AppOptions {
  /** The absolute path of the configuration file. */
  readonly file: string;
  /** The text of a configuration that comes from the command line or an environment variable. In this case, `file` does not exist. */
  readonly text?: string | undefined;
  /** Whether `text` comes from an environment variable. The servers in it then need approvals and have logs, like those of a file. */
  readonly isTextFromEnvironment?: boolean | undefined;
  readonly stateDir: string;
  /** The working folder of servers without `cwd`; defaults to that of this process. */
  readonly workingDir?: string | undefined;
  /** The folder that records which configuration files the user trusts; undefined if `file` needs no trust. */
  readonly trustDir?: string | undefined;
  /**
   * `none` opens no listener: only this process uses the gateway, through `App.admin`, and listings are fetched on demand. `socket` is the
   * user's background gateway, which listens only on the path in the option `socket`. If undefined, `http` selects HTTP or standard input and output.
   */
  readonly listen?: 'none' | 'socket' | undefined;
  /** The socket of the user's shared gateway; undefined if this gateway is not shared. */
  readonly socket?: string | undefined;
  /** The only server of `trunkline wrap`, and the client as described by its first message; undefined for other commands. */
  readonly wrapped?:
    | {
        readonly name: string;
        readonly client: StdioClientDescription;
        /** Called with the standard error output of the server. */
        readonly onStderr: (chunk: Buffer) => void;
      }
    | undefined;
  /** Servers from the command line. They are added to the servers of the file, and replace servers of the same name. */
  readonly servers?: Readonly<Record<string, unknown>> | undefined;
  /** The address to listen on, or `true` for the configured one; undefined for standard input and output. */
  readonly http: string | true | undefined;
  /** The profile of the client at standard input and output. */
  readonly profile?: string | undefined;
  /** Overrides `expose.kind` of the configuration. */
  readonly expose: 'auto' | 'direct' | 'search' | 'code' | undefined;
  readonly logger: (configured: LevelSource) => Logger;
  /** Registers the function that stops the gateway on a signal; undefined where the caller stops it. */
  readonly onStopSignal?: (stop: () => void) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  readonly version: string;
  /** The id of the build. A cache that another build wrote is not used. */
  readonly build: string;
  /** The file of word vectors for the search. */
  readonly vectors: URL;
  /** The entry file of the thread that runs scripts. */
  readonly codeWorker: URL;
  /** The entry file of the thread that writes the audit log. */
  readonly auditWorker: URL;
  /** The folder of the dashboard's files. */
  readonly dashboardDir: URL;
  /** The file that describes the admin API. */
  readonly openapi: URL;
  /** Node's own `import`, for custom guards. */
  readonly importModule: (url: string) => Promise<unknown>;
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/** Whether the servers come from the command line. Such servers need no approval and write to the terminal. */
export function hasCommandLineServers({ wrapped, text, isTextFromEnvironment }: AppOptions): boolean {
  return wrapped !== undefined || (text !== undefined && isTextFromEnvironment !== true);
}

/** The largest message that a server, or a client on standard input, may send. */
export const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;
