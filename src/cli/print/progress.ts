import { inOneLine } from '../harmless.ts';
import type { Paint } from './paint.ts';
import { cut } from './width.ts';

/** Shows that something is under way, until it is disposed of. */
export interface Progress extends Disposable {
  /** What is being done now; with a share between 0 and 1 a bar is drawn. */
  update(label: string, share?: number): void;
}

interface ProgressDeps {
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };
  readonly paint: Paint;
  /** A line that is drawn over and over, lines that stay, or nothing. */
  readonly how: 'drawn' | 'lines' | 'none';
}

const SHOWN_AFTER_MS = 500;
const TICK_MS = 80;
/** Between lines that stay. */
const TOLD_EVERY_MS = 10_000;
/** A bar is no longer than this, and takes no more than a third of the terminal. */
const BAR_WIDTH = 24;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** One line at the bottom of the terminal, or a line now and then where nothing can be drawn over. */
export class StatusLine {
  readonly #deps: ProgressDeps;
  #isDrawn = false;
  #isPaused = false;

  constructor(deps: ProgressDeps) {
    this.#deps = deps;
  }

  /** Makes room for lines that stay. */
  clear(): void {
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    this.#deps.stderr.write('\r\u001b[K');
  }

  /** Leaves the terminal to a question until it is disposed of. */
  pause(): Disposable {
    this.clear();
    this.#isPaused = true;
    return { [Symbol.dispose]: () => (this.#isPaused = false) };
  }

  start(label: string): Progress {
    let state: State = { label };
    const { how } = this.#deps;
    if (how === 'none') return { update: () => {}, [Symbol.dispose]: () => {} };
    let frame = 0;
    let ticking: NodeJS.Timeout | undefined;
    const show = (): void =>
      how === 'drawn' ? this.#draw(state, FRAMES[frame++ % FRAMES.length] ?? '') : this.#tell(state);
    const waiting = setTimeout(() => {
      show();
      ticking = setInterval(show, how === 'drawn' ? TICK_MS : TOLD_EVERY_MS).unref();
    }, SHOWN_AFTER_MS).unref();
    return {
      update: (text, share) => (state = { label: text, share }),
      [Symbol.dispose]: () => {
        clearTimeout(waiting);
        clearInterval(ticking);
        this.clear();
      },
    };
  }

  #tell({ label, share }: State): void {
    if (this.#isPaused) return;
    const end = share === undefined ? '…' : `: ${percentOf(share)} %`;
    this.#deps.stderr.write(`${inOneLine(label)}${end}\n`);
  }

  #draw({ label, share }: State, frame: string): void {
    if (this.#isPaused) return;
    const { stderr, paint } = this.#deps;
    const text = inOneLine(label);
    const columns = stderr.columns ?? 80;
    const bar = share === undefined ? '' : `${barOf(share, Math.floor(columns / 3))} `;
    // A line that is wider than the terminal could not be taken back.
    const room = columns - 4 - bar.length;
    this.#isDrawn = true;
    stderr.write(`\r\u001b[K${paint.cyan(frame)} ${bar}${cut(text, Math.max(1, room))}`);
  }
}

interface State {
  readonly label: string;
  readonly share?: number | undefined;
}

function barOf(share: number, most: number): string {
  const width = Math.min(BAR_WIDTH, most);
  const full = Math.round((percentOf(share) / 100) * width);
  return `${'█'.repeat(full)}${'░'.repeat(width - full)} ${String(percentOf(share)).padStart(3)} %`;
}

function percentOf(share: number): number {
  return Math.floor(Math.min(1, Math.max(0, share)) * 100);
}
