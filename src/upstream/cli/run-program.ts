import type { Cancellation } from '../../core/lib/cancellation.ts';
import type { ChildRecord } from '../process/child-record.ts';
import { startServerProcess } from '../process/server-process.ts';
import type { Watchdog } from '../process/watchdog.ts';

/** Settings for starting a program, both for its help and for calls. */
export interface ProgramSettings {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly watchdog: Watchdog;
  readonly childRecord: ChildRecord;
  /** Receives the standard error of the program. */
  readonly onStderr?: ((chunk: Buffer) => void) | undefined;
}

export interface ProgramOutput {
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Whether the program was stopped because it wrote too much. */
  readonly isFlood: boolean;
}

export interface CapturedOutput {
  /** The beginning of the output, up to the size limit. */
  readonly bytes: Buffer;
  /** The size of the whole output. */
  readonly total: number;
}

/** A program that writes more than this to standard output is stopped. */
const FLOOD_BYTES = 256 * 1024 * 1024;

/** Runs a program until it exits, without a shell and without input. Cancelling ends it with all its children. */
export async function runProgram(
  settings: ProgramSettings,
  args: readonly string[],
  options: {
    readonly cancellation: Cancellation;
    readonly maxStdout: number;
    readonly maxStderr: number;
    readonly floodBytes?: number;
  },
): Promise<ProgramOutput> {
  const { cancellation } = options;
  cancellation.throwIfCancelled();
  const stderr = new OutputCapture(options.maxStderr);
  const stdout = new OutputCapture(options.maxStdout);
  const child = await startServerProcess({
    ...settings,
    args,
    onStderr: (chunk) => {
      stderr.push(chunk);
      settings.onStderr?.(chunk);
    },
    graceAfterEofMs: 0,
  });
  child.stdin.on('error', () => {}); // The program may exit before it has read the end of its input.
  child.stdin.end();
  const maxBytes = options.floodBytes ?? FLOOD_BYTES;
  let isFlood = false;
  child.stdout.on('error', () => {});
  child.stdout.on('data', (chunk: Buffer) => {
    stdout.push(chunk);
    if (stdout.total <= maxBytes || isFlood) return;
    isFlood = true;
    void child.end();
  });
  const stop = (): void => void child.end();
  cancellation.onCancel(stop);
  try {
    const { code, signal } = await child.exit;
    // `end` also reads the remaining output and ends the children of the program.
    await child.end();
    cancellation.throwIfCancelled();
    return { stdout: stdout.captured, stderr: stderr.captured, code, signal, isFlood };
  } finally {
    cancellation.offCancel(stop);
  }
}

/** Stores the beginning of an output, up to `max` bytes, and counts all of it. */
class OutputCapture {
  readonly #max: number;
  readonly #chunks: Buffer[] = [];
  #stored = 0;
  total = 0;

  constructor(max: number) {
    this.#max = max;
  }

  push(chunk: Buffer): void {
    this.total += chunk.length;
    if (this.#stored >= this.#max) return;
    const part = chunk.subarray(0, this.#max - this.#stored);
    this.#stored += part.length;
    this.#chunks.push(part);
  }

  get captured(): CapturedOutput {
    return { bytes: Buffer.concat(this.#chunks), total: this.total };
  }
}
