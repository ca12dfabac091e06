import type { Readable, Writable } from 'node:stream';
import type { Output } from './output.ts';

/** Everything a command touches of the outside world. */
export interface CliContext {
  readonly out: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  readonly version: string;
  /** Where the file of word vectors lies. */
  readonly vectors: URL;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
  /** Called once, at the first signal that asks us to stop. */
  readonly onStopSignal: (stop: () => void) => void;
}
