import type { Readable, Writable } from 'node:stream';
import type { Output } from './output.ts';

interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The environment of a command: streams, variables, paths and signals. Commands reach the outside world only through it. */
export interface CliContext {
  readonly out: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  readonly version: string;
  /** Identifies the build of the program. */
  readonly build: string;
  /** The command line that starts this program: Node, its flags and the file. */
  readonly program: readonly [string, ...string[]];
  /** The file of word vectors for the tool search. */
  readonly vectors: URL;
  /** The entry file of the thread that runs scripts. */
  readonly codeWorker: URL;
  /** The entry file of the thread that writes the audit log. */
  readonly auditWorker: URL;
  /** The folder of the dashboard files. */
  readonly dashboardDir: URL;
  /** The OpenAPI description of the admin API. */
  readonly openapi: URL;
  /** Node's `import`, for modules that the user wrote, such as guards. */
  readonly importModule: (url: string) => Promise<unknown>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & Terminal;
  readonly stderr: Writable & Terminal;
  /** Sets the function that runs once, at the first SIGINT, SIGTERM or SIGHUP. It replaces the function that was set before. */
  readonly onStopSignal: (stop: () => void) => void;
  /** Limits how long the process waits for its output to be read after the command has ended. MCP clients may never read it. */
  readonly limitFlush: () => void;
}
