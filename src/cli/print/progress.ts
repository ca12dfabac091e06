import { harmless } from '../harmless.ts';
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
}

const SHOWN_AFTER_MS = 500;
const TICK_MS = 80;
const BAR_WIDTH = 24;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** One line at the bottom of the terminal; without a terminal it is silent. */
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
    let state: { label: string; share?: number | undefined } = { label };
    if (this.#deps.stderr.isTTY !== true) return { update: () => {}, [Symbol.dispose]: () => {} };
    let frame = 0;
    let ticking: NodeJS.Timeout | undefined;
    const draw = (): void => this.#draw(state, FRAMES[frame++ % FRAMES.length] ?? '');
    const waiting = setTimeout(() => {
      draw();
      ticking = setInterval(draw, TICK_MS).unref();
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

  #draw({ label, share }: { label: string; share?: number | undefined }, frame: string): void {
    if (this.#isPaused) return;
    const { stderr, paint } = this.#deps;
    const text = harmless(label).replaceAll(/\s+/g, ' ');
    const bar = share === undefined ? '' : `${barOf(share)} `;
    const room = (stderr.columns ?? 80) - 4 - bar.length;
    this.#isDrawn = true;
    stderr.write(`\r\u001b[K${paint.cyan(frame)} ${bar}${cut(text, Math.max(10, room))}`);
  }
}

function barOf(share: number): string {
  const part = Math.min(1, Math.max(0, share));
  const full = Math.round(part * BAR_WIDTH);
  return `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)} ${String(Math.floor(part * 100)).padStart(3)} %`;
}
