const NEWLINE = 10;
const QUOTE = 34;
const BACKSLASH = 92;
const ANSWER = Buffer.from('{"jsonrpc":"2.0","id":');
const LONGEST_ID = 1024;

interface WholeLinesOptions {
  /** Asked about each line, in pieces and with its newline; false keeps it back. */
  readonly keeps: (line: readonly Buffer[]) => boolean;
  /** One or more lines, or a piece of a long one whose other pieces come at once. */
  readonly pass: (bytes: Buffer) => void;
}

/** Passes bytes on by whole lines without making text of them, so that a reader never gets half a message. */
export class WholeLines {
  readonly #options: WholeLinesOptions;
  #parts: Buffer[] = [];

  constructor(options: WholeLinesOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    const { keeps, pass } = this.#options;
    let from = 0;
    // Lines that came together go on together.
    let passFrom = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      const before = this.#parts;
      this.#parts = [];
      const isKept = keeps([...before, chunk.subarray(from, at + 1)]);
      if (isKept) for (const part of before) pass(part);
      if (!isKept) {
        if (passFrom < from) pass(chunk.subarray(passFrom, from));
        passFrom = at + 1;
      }
      from = at + 1;
    }
    if (passFrom < from) pass(chunk.subarray(passFrom, from));
    if (from < chunk.length) this.#parts.push(from === 0 ? chunk : chunk.subarray(from));
  }
}

/** The id, as written, of a line in which our gateway answers a request; undefined for every other line. */
export function answeredId(line: readonly Buffer[]): string | undefined {
  if (!startsWith(line, ANSWER)) return undefined;
  const start = startOf(line, ANSWER.length + LONGEST_ID);
  const end = endOfId(start, ANSWER.length);
  if (end === undefined || start.toString('latin1', end, end + 9) === ',"method"') return undefined;
  return start.toString('utf8', ANSWER.length, end);
}

export function startsWith(line: readonly Buffer[], prefix: Buffer): boolean {
  return startOf(line, prefix.length).subarray(0, prefix.length).equals(prefix);
}

/** At least so many bytes of the line, or all of it; nothing is copied for a line in one piece. */
function startOf(line: readonly Buffer[], bytes: number): Buffer {
  const [first = Buffer.alloc(0)] = line;
  if (line.length === 1 || first.length >= bytes) return first;
  let pieces = 1;
  for (let length = first.length; length < bytes && pieces < line.length; pieces++)
    length += line[pieces]?.length ?? 0;
  return Buffer.concat(line.slice(0, pieces));
}

function endOfId(bytes: Buffer, from: number): number | undefined {
  const most = Math.min(bytes.length, from + LONGEST_ID);
  if (bytes[from] !== QUOTE) {
    const at = bytes.indexOf(',', from);
    return at < 0 || at > most ? undefined : at;
  }
  for (let at = from + 1; at < most; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at + 1;
  }
  return undefined;
}
