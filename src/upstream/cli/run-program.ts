import type { Cancellation } from '../../lib/cancellation.ts';
import type { ChildRecord } from '../process/orphans.ts';
import { startProcess } from '../process/process.ts';
import type { Watchdog } from '../process/watchdog.ts';

/** How programs are started; the same for help and for calls. */
export interface ProgramSetting {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly watchdog: Watchdog;
  readonly record: ChildRecord;
  /** What it writes to standard error, for whoever wants to see it. */
  readonly onStderr?: ((chunk: Buffer) => void) | undefined;
}

export interface ProgramOutput {
  readonly stdout: Captured;
  readonly stderr: Captured;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** It wrote more than anybody can read, and was ended for it. */
  readonly isFlood: boolean;
}

export interface Captured {
  /** The beginning, as far as it was kept. */
  readonly bytes: Buffer;
  /** How many there were. */
  readonly total: number;
}

/** A program that does not stop to write is ended here. */
const FLOOD_BYTES = 256 * 1024 * 1024;

/** Runs a program to its end, without a shell and without input. Cancelling ends it with all that it started. */
export async function runProgram(
  setting: ProgramSetting,
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
  const stderr = new Capture(options.maxStderr);
  const stdout = new Capture(options.maxStdout);
  const child = await startProcess({
    ...setting,
    args,
    onStderr: (chunk) => {
      stderr.push(chunk);
      setting.onStderr?.(chunk);
    },
    graceAfterEofMs: 0,
  });
  child.stdin.on('error', () => {}); // It may end before it has seen the end of its input.
  child.stdin.end();
  const flood = options.floodBytes ?? FLOOD_BYTES;
  let isFlood = false;
  child.stdout.on('error', () => {});
  child.stdout.on('data', (chunk: Buffer) => {
    stdout.push(chunk);
    if (stdout.total <= flood || isFlood) return;
    isFlood = true;
    void child.end();
  });
  const stop = (): void => void child.end();
  cancellation.onCancel(stop);
  try {
    const { code, signal } = await child.exit;
    // Also waits for what it wrote, and ends what it left behind.
    await child.end();
    cancellation.throwIfCancelled();
    return { stdout: stdout.captured, stderr: stderr.captured, code, signal, isFlood };
  } finally {
    cancellation.offCancel(stop);
  }
}

class Capture {
  readonly #max: number;
  readonly #chunks: Buffer[] = [];
  #kept = 0;
  total = 0;

  constructor(max: number) {
    this.#max = max;
  }

  push(chunk: Buffer): void {
    this.total += chunk.length;
    if (this.#kept >= this.#max) return;
    const part = chunk.subarray(0, this.#max - this.#kept);
    this.#kept += part.length;
    this.#chunks.push(part);
  }

  get captured(): Captured {
    return { bytes: Buffer.concat(this.#chunks), total: this.total };
  }
}
