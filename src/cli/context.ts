import type { Readable, Writable } from 'node:stream';
import type { Output } from './output.ts';

interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Everything a command touches of the outside world. */
export interface CliContext {
  readonly out: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  readonly version: string;
  /** Of the program as it was built. */
  readonly build: string;
  /** How this program is started: Node, its flags, and the file. */
  readonly program: readonly [string, ...string[]];
  /** Where the file of word vectors lies. */
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
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & Terminal;
  readonly stderr: Writable & Terminal;
  /** Called once, at the first signal that asks us to stop. */
  readonly onStopSignal: (stop: () => void) => void;
}
