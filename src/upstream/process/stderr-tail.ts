import { StringDecoder } from 'node:string_decoder';

import { printable } from '../../lib/printable.ts';

/** The last lines that a server wrote to standard error; they say why it died better than any exit code. */
export class StderrTail {
  readonly #maxLines: number;
  readonly #maxChars: number;
  readonly #decoder = new StringDecoder('utf8');
  #lines: string[] = [];
  #rest = '';

  constructor(
    options: { readonly maxLines: number; readonly maxChars: number } = { maxLines: 20, maxChars: 500 },
  ) {
    this.#maxLines = options.maxLines;
    this.#maxChars = options.maxChars;
  }

  push(chunk: Buffer): void {
    // A flood is cut before it is split: only its end can survive anyway.
    const bound = this.#maxLines * this.#maxChars * 4;
    const text = this.#rest + this.#decoder.write(chunk.subarray(Math.max(0, chunk.length - bound)));
    const lines = text.split('\n');
    this.#rest = (lines.pop() ?? '').slice(-this.#maxChars);
    for (const line of lines) this.#keep(line);
  }

  get lines(): readonly string[] {
    const rest = this.#rest.trim() === '' ? [] : [printable(this.#rest)];
    return [...this.#lines, ...rest].slice(-this.#maxLines);
  }

  #keep(line: string): void {
    if (line.trim() === '') return;
    this.#lines.push(printable(line).slice(0, this.#maxChars));
    if (this.#lines.length > this.#maxLines) this.#lines = this.#lines.slice(-this.#maxLines);
  }
}
