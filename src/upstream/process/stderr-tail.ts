import { StringDecoder } from 'node:string_decoder';

import { stripControls } from '../../core/lib/strip-controls.ts';

/** Keeps the last lines of a server's standard error, which explain an exit better than its code. */
export class StderrTail {
  readonly #maxLines: number;
  readonly #maxChars: number;
  readonly #decoder = new StringDecoder('utf8');
  #lines: string[] = [];
  #rest = '';

  constructor(
    // Enough for the usage text that many programs print after an error.
    options: { readonly maxLines: number; readonly maxChars: number } = { maxLines: 60, maxChars: 500 },
  ) {
    this.#maxLines = options.maxLines;
    this.#maxChars = options.maxChars;
  }

  push(chunk: Buffer): void {
    // A large chunk is cut before it is split, because only its end is kept. A UTF-8 character has up to 4 bytes.
    const bound = this.#maxLines * this.#maxChars * 4;
    const text = this.#rest + this.#decoder.write(chunk.subarray(Math.max(0, chunk.length - bound)));
    const lines = text.split('\n');
    this.#rest = (lines.pop() ?? '').slice(-this.#maxChars);
    for (const line of lines) this.#addLine(line);
  }

  get lines(): readonly string[] {
    const rest = this.#rest.trim() === '' ? [] : [stripControls(this.#rest)];
    return [...this.#lines, ...rest].slice(-this.#maxLines);
  }

  #addLine(line: string): void {
    if (line.trim() === '') return;
    this.#lines.push(stripControls(line).slice(0, this.#maxChars));
    if (this.#lines.length > this.#maxLines) this.#lines = this.#lines.slice(-this.#maxLines);
  }
}
