const NEWLINE = 10;
const QUOTE = 34;
const BACKSLASH = 92;
/** The start of every response of our gateway, which always writes the members in this order. */
const RESPONSE_PREFIX = Buffer.from('{"jsonrpc":"2.0","id":');
const MAX_ID_BYTES = 1024;

interface LineFilterOptions {
  /** Called once per line with the line's chunks, including the newline. The line is dropped if this returns false. */
  readonly shouldForward: (line: readonly Buffer[]) => boolean;
  /** Receives one or more complete lines, or one chunk of a long line whose other chunks follow in the same turn. */
  readonly forward: (bytes: Buffer) => void;
}

/** Forwards or drops complete lines without decoding them, so that the reader never gets half a message. */
export class LineFilter {
  readonly #options: LineFilterOptions;
  /** The chunks of the line whose newline has not arrived yet. */
  #incompleteLine: Buffer[] = [];

  constructor(options: LineFilterOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    const { shouldForward, forward } = this.#options;
    let lineStart = 0;
    // The start of the lines that are not forwarded yet. Consecutive lines of one chunk are forwarded together.
    let forwardStart = 0;
    for (let newline = chunk.indexOf(NEWLINE); newline >= 0; newline = chunk.indexOf(NEWLINE, lineStart)) {
      const earlierChunks = this.#incompleteLine;
      this.#incompleteLine = [];
      if (shouldForward([...earlierChunks, chunk.subarray(lineStart, newline + 1)])) {
        for (const earlier of earlierChunks) forward(earlier);
      } else {
        if (forwardStart < lineStart) forward(chunk.subarray(forwardStart, lineStart));
        forwardStart = newline + 1;
      }
      lineStart = newline + 1;
    }
    if (forwardStart < lineStart) forward(chunk.subarray(forwardStart, lineStart));
    if (lineStart < chunk.length)
      this.#incompleteLine.push(lineStart === 0 ? chunk : chunk.subarray(lineStart));
  }
}

/** Returns the raw JSON text of the id if the line is a response as our gateway writes it, and undefined for every other line. */
export function readResponseId(line: readonly Buffer[]): string | undefined {
  if (!lineStartsWith(line, RESPONSE_PREFIX)) return undefined;
  const start = readStart(line, RESPONSE_PREFIX.length + MAX_ID_BYTES);
  const end = findIdEnd(start, RESPONSE_PREFIX.length);
  // A request of the server also begins with an id, but its method follows.
  if (end === undefined || start.toString('latin1', end, end + 9) === ',"method"') return undefined;
  return start.toString('utf8', RESPONSE_PREFIX.length, end);
}

export function lineStartsWith(line: readonly Buffer[], prefix: Buffer): boolean {
  return readStart(line, prefix.length).subarray(0, prefix.length).equals(prefix);
}

/** Returns at least `minBytes` of the line, or all of a shorter line. A line that consists of one chunk is not copied. */
function readStart(line: readonly Buffer[], minBytes: number): Buffer {
  const [first = Buffer.alloc(0)] = line;
  if (line.length === 1 || first.length >= minBytes) return first;
  let chunkCount = 1;
  for (let length = first.length; length < minBytes && chunkCount < line.length; chunkCount++)
    length += line[chunkCount]?.length ?? 0;
  return Buffer.concat(line.slice(0, chunkCount));
}

/** Returns the position after the id: after the closing quote of a string, or at the comma after a number. */
function findIdEnd(bytes: Buffer, start: number): number | undefined {
  const limit = Math.min(bytes.length, start + MAX_ID_BYTES);
  if (bytes[start] !== QUOTE) {
    const comma = bytes.indexOf(',', start);
    return comma < 0 || comma > limit ? undefined : comma;
  }
  for (let index = start + 1; index < limit; index++) {
    if (bytes[index] === BACKSLASH) index++;
    else if (bytes[index] === QUOTE) return index + 1;
  }
  return undefined;
}
