import headless from '@xterm/headless';

/** Frames closer together than this are merged, in milliseconds. */
const FRAME_MS = 90;
/** The maximum time between two frames of a running command. */
const MAX_GAP_MS = 1100;
const TYPING_MS = 45;
const PICTURE_MS = 4500;

/** Records the screens of an emulated terminal. A frame is `{ at, rows }`, where a row is a list of `{ text, style }`. */
export class TerminalFilm {
  frames = [];
  /** @readonly */
  #terminal;
  /** @readonly */
  #screen;
  /** The time in the film, in milliseconds. */
  #now = 0;
  #lastChunkAt;

  constructor({ columns, rows }) {
    this.#screen = { columns, rows };
    this.#terminal = new headless.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true });
  }

  /** Shows a text as if a person typed it. */
  async type(text) {
    for (const char of text.slice(0, 2) === '$ ' ? ['$ ', ...text.slice(2)] : text) {
      this.#now += TYPING_MS;
      await this.#put(char);
    }
    this.#lastChunkAt = undefined;
  }

  /** Shows the output of a program that arrived at this time. */
  async write(chunk, at) {
    const gap = this.#lastChunkAt === undefined ? FRAME_MS : at - this.#lastChunkAt;
    this.#lastChunkAt = at;
    this.#now += Math.min(gap, MAX_GAP_MS);
    await this.#put(chunk);
  }

  pause(ms) {
    this.#now += ms;
  }

  /** Shows the picture that is given to the renderer, for a while. */
  showPicture() {
    this.frames.push({ at: this.#now, isPicture: true });
    this.#now += PICTURE_MS;
  }

  get length() {
    return this.#now;
  }

  /** Returns everything that the terminal shows, including the lines that have scrolled away. */
  transcript() {
    const { active } = this.#terminal.buffer;
    const lines = Array.from(
      { length: active.length },
      (_, index) => active.getLine(index)?.translateToString(true) ?? '',
    );
    return lines.join('\n').trimEnd();
  }

  async #put(data) {
    await new Promise((resolve) => this.#terminal.write(data, resolve));
    const rows = this.#readScreen();
    const last = this.frames.at(-1);
    if (last !== undefined && !last.isPicture && this.#now - last.at < FRAME_MS) last.rows = rows;
    else this.frames.push({ at: this.#now, rows });
  }

  #readScreen() {
    const { active } = this.#terminal.buffer;
    return Array.from({ length: this.#screen.rows }, (_, row) =>
      this.#readRow(active.getLine(active.baseY + row)),
    );
  }

  #readRow(line) {
    const spans = [];
    const end = line?.translateToString(true).length ?? 0;
    for (let column = 0; column < Math.min(end, this.#screen.columns); column++) {
      const cell = line.getCell(column);
      const style = [
        cell.isBold() ? 'b' : '',
        cell.isDim() ? 'd' : '',
        cell.isFgPalette() ? `c${cell.getFgColor()}` : '',
      ].join('');
      const text = cell.getChars() || ' ';
      const last = spans.at(-1);
      if (last?.style === style) last.text += text;
      else spans.push({ text, style, column });
    }
    return spans;
  }
}
