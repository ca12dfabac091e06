import { toOneLine } from '../sanitize.ts';
import type { Paint } from './paint.ts';
import { truncate } from './display-width.ts';

/** Shows that an operation is running, until the indicator is disposed of. */
export interface ProgressIndicator extends Disposable {
  /** Changes the label. A share between 0 and 1 draws a bar. */
  update(label: string, share?: number): void;
}

interface StatusLineOptions {
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };
  readonly paint: Paint;
  /** An animated line, separate lines, or nothing. */
  readonly mode: 'drawn' | 'lines' | 'none';
}

/** Operations that end earlier show no progress. */
const DELAY_MS = 500;
/** The time between two frames of the animated line. */
const FRAME_INTERVAL_MS = 80;
/** The time between two separate lines. */
const LINE_INTERVAL_MS = 10_000;
/** The maximum width of the bar, in columns. It also takes at most a third of the terminal. */
const MAX_BAR_WIDTH = 24;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Shows progress on the last line of the terminal, or as separate lines if the terminal cannot redraw. */
export class StatusLine {
  readonly #options: StatusLineOptions;
  #isDrawn = false;
  #isPaused = false;

  constructor(options: StatusLineOptions) {
    this.#options = options;
  }

  /** Erases the animated line before other output. */
  clear(): void {
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    this.#options.stderr.write('\r\u001b[K');
  }

  /** Shows nothing until the result is disposed of, because the terminal belongs to a question. */
  pause(): Disposable {
    this.clear();
    this.#isPaused = true;
    return { [Symbol.dispose]: () => (this.#isPaused = false) };
  }

  /** Shows progress after a delay, until the indicator is disposed of. */
  start(label: string): ProgressIndicator {
    let state: ProgressState = { label };
    const { mode } = this.#options;
    if (mode === 'none') return { update: () => {}, [Symbol.dispose]: () => {} };
    let frame = 0;
    let ticking: NodeJS.Timeout | undefined;
    const show = (): void =>
      mode === 'drawn' ? this.#draw(state, FRAMES[frame++ % FRAMES.length] ?? '') : this.#writeLine(state);
    const waiting = setTimeout(() => {
      show();
      ticking = setInterval(show, mode === 'drawn' ? FRAME_INTERVAL_MS : LINE_INTERVAL_MS).unref();
    }, DELAY_MS).unref();
    return {
      update: (text, share) => (state = { label: text, share }),
      [Symbol.dispose]: () => {
        clearTimeout(waiting);
        clearInterval(ticking);
        this.clear();
      },
    };
  }

  #writeLine({ label, share }: ProgressState): void {
    if (this.#isPaused) return;
    const end = share === undefined ? '…' : `: ${toPercent(share)} %`;
    this.#options.stderr.write(`${toOneLine(label)}${end}\n`);
  }

  #draw({ label, share }: ProgressState, frame: string): void {
    if (this.#isPaused) return;
    const { stderr, paint } = this.#options;
    const text = toOneLine(label);
    const columns = stderr.columns ?? 80;
    const bar = share === undefined ? '' : `${drawBar(share, Math.floor(columns / 3))} `;
    // A line that is wider than the terminal would wrap and could not be erased.
    const room = columns - 4 - bar.length;
    this.#isDrawn = true;
    stderr.write(`\r\u001b[K${paint.cyan(frame)} ${bar}${truncate(text, Math.max(1, room))}`);
  }
}

interface ProgressState {
  readonly label: string;
  readonly share?: number | undefined;
}

function drawBar(share: number, maxWidth: number): string {
  const width = Math.min(MAX_BAR_WIDTH, maxWidth);
  const full = Math.round((toPercent(share) / 100) * width);
  return `${'█'.repeat(full)}${'░'.repeat(width - full)} ${String(toPercent(share)).padStart(3)} %`;
}

function toPercent(share: number): number {
  return Math.floor(Math.min(1, Math.max(0, share)) * 100);
}
