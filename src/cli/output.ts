import { StringDecoder } from 'node:string_decoder';
import { stringifyExact } from '../core/lib/exact-json.ts';
import { GatewayError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { LogLevel } from '../observability/log.ts';
import { sanitize, sanitizeColoured, sanitizeJson } from './sanitize.ts';
import { createPaint } from './print/paint.ts';
import type { Paint } from './print/paint.ts';
import { wrapProse } from './print/prose.ts';
import { showInPager } from './print/show-in-pager.ts';
import { StatusLine } from './print/status-line.ts';
import type { ProgressIndicator } from './print/status-line.ts';
import type { OutputStyle } from './print/output-style.ts';
import { formatTable } from './print/table.ts';
import type { TableCell, TableOptions } from './print/table.ts';

/** Writes everything that a user reads. Results go to standard output, everything else to standard error. */
export interface Output {
  readonly style: OutputStyle;
  /** Colours for standard output. */
  readonly paint: Paint;
  /** Writes a line of the result without control characters. Text from servers that must stay on one line needs `toOneLine`. */
  line(text: string): void;
  /** Writes sentences of the result. A terminal wraps them between words. */
  prose(text: string): void;
  /** Writes the result as one JSON document. Numbers that were parsed exactly are written exactly. */
  json(value: unknown): void;
  /** Writes JSON text as it is. On a terminal, its control characters are escaped. */
  jsonText(text: string): void;
  /** Writes the result as a table, with sanitized cells. */
  table(rows: readonly (readonly TableCell[])[], options?: Omit<TableOptions, 'width'>): void;
  /** Shows the result lines that `print` writes in a pager if they do not fit on the terminal. */
  paged(print: () => void): Promise<void>;
  /** Writes a message to standard error. */
  note(text: string): void;
  /** Writes a table to standard error. A last cell that is too wide wraps. */
  noteTable(rows: readonly (readonly TableCell[])[]): void;
  /** Asks a question at the terminal. The user types the answer after it. */
  question(text: string): void;
  /** Reports an error on standard error. */
  problem(error: GatewayError): void;
  /** Reports an error or a hint of the command-line parser. */
  usageError(text: string): void;
  /** Shows progress for an operation that may take longer than half a second, until the indicator is disposed of. */
  progress(label: string): ProgressIndicator;
  /** Shows progress while the work runs. */
  withProgress<T>(label: string, work: () => Promise<T>): Promise<T>;
  /** Hides progress while a question is open. */
  pauseProgress(): Disposable;
}

interface Streams {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };
}

const PLAIN: OutputStyle = {
  format: 'text',
  isJsonRequested: false,
  isOutColoured: false,
  isErrColoured: false,
  width: Infinity,
  errWidth: Infinity,
  pager: undefined,
  height: Infinity,
  progress: 'none',
};

export function createOutput({ stdout, stderr }: Streams, style: OutputStyle = PLAIN): Output {
  const errPaint = createPaint(style.isErrColoured);
  const status = new StatusLine({ stderr, paint: errPaint, mode: style.progress });
  const writeNote = (text: string): void => {
    status.clear();
    stderr.write(`${text}\n`);
  };
  const result = new ResultWriter(stdout, style, () => status.clear());
  const line = (text: string): void => result.write(sanitizeColoured(text));
  const jsonText = (text: string): void => result.write(stdout.isTTY === true ? sanitizeJson(text) : text);
  const writeJsonNote = (value: unknown): void => {
    const text = JSON.stringify(value);
    writeNote(stderr.isTTY === true ? sanitizeJson(text) : text);
  };
  const problem = (error: GatewayError): void => {
    const { code, message, details } = error;
    if (style.isJsonRequested) return writeJsonNote({ code, message, details });
    // The text is wrapped before its first and last words are coloured, because wrapping would count colour codes as characters.
    const [name, end] = ['trunkline:', `[${code}]`];
    const text = wrapProse(`${name} ${sanitize(message)} ${end}`, style.errWidth);
    writeNote(errPaint.red(name) + text.slice(name.length, -end.length) + errPaint.dim(end));
  };
  return {
    style,
    paint: createPaint(style.isOutColoured),
    line,
    prose: (text) => line(wrapProse(text, style.width)),
    json: (value) => jsonText(stringifyExact(value, 2)),
    jsonText,
    table: (rows, options) => {
      const safe = sanitizeRows(rows, options?.lastColumn === 'wrap');
      for (const row of formatTable(safe, { width: style.width, ...options })) line(row);
    },
    paged: (print) => result.paged(print),
    // With --json, every line of standard error is JSON as well.
    note: (text) =>
      style.isJsonRequested
        ? writeJsonNote({ note: text })
        : writeNote(wrapProse(sanitize(text), style.errWidth)),
    noteTable: (rows) => {
      const safe = sanitizeRows(rows, true);
      for (const row of formatTable(safe, { width: style.errWidth, lastColumn: 'wrap' })) writeNote(row);
    },
    question: (text) => void stderr.write(`${wrapProse(sanitize(text), style.errWidth)} `),
    problem,
    usageError: (text) => {
      if (!style.isJsonRequested) return writeNote(sanitize(text.trimEnd()));
      // The parser reports the error and a hint separately. JSON output omits the hint.
      if (text.startsWith('error: ')) problem(new GatewayError('USAGE', text.slice('error: '.length).trim()));
    },
    progress: (label) => status.start(label),
    pauseProgress: () => status.pause(),
    withProgress: async (label, work) => {
      using _ = status.start(label);
      return await work();
    },
  };
}

/** Writes the lines of a result, or collects them for a pager. */
class ResultWriter {
  readonly #stdout: Streams['stdout'];
  readonly #style: OutputStyle;
  readonly #clearStatus: () => void;
  /** The lines of a result that may need a pager; undefined while lines are written at once. */
  #lines: string[] | undefined;

  constructor(stdout: Streams['stdout'], style: OutputStyle, clearStatus: () => void) {
    this.#stdout = stdout;
    this.#style = style;
    this.#clearStatus = clearStatus;
  }

  write(text: string): void {
    if (this.#lines !== undefined) {
      this.#lines.push(text);
      return;
    }
    this.#clearStatus();
    this.#stdout.write(`${text}\n`);
  }

  async paged(print: () => void): Promise<void> {
    const { pager, height, format } = this.#style;
    if (pager === undefined || format === 'json') return print();
    const lines: string[] = [];
    this.#lines = lines;
    try {
      print();
    } finally {
      this.#lines = undefined;
    }
    const text = lines.map((each) => `${each}\n`).join('');
    const isLong = text.split('\n').length > height;
    if (isLong && (await showInPager(pager, text))) return;
    this.#stdout.write(text);
  }
}

/** Sanitizes all cells. Only a last cell that wraps keeps its line breaks. In other cells, a line break would look like a further row. */
function sanitizeRows(
  rows: readonly (readonly TableCell[])[],
  canLastWrap: boolean,
): readonly (readonly TableCell[])[] {
  return rows.map((row) =>
    row.map((cell, at) => {
      const isMultiLine = canLastWrap && at === row.length - 1;
      const clean = (text: string): string =>
        sanitize(isMultiLine ? text : text.replaceAll(/[\t\r\n]+/g, ' '));
      return typeof cell === 'string' ? clean(cell) : { ...cell, text: clean(cell.text) };
    }),
  );
}

/** Returns a function that writes log lines to standard error: as JSON, or in readable form on a terminal. */
export function createLogWriter(stderr: Streams['stderr']): (line: string) => void {
  return (line) => void stderr.write(stderr.isTTY === true ? formatLogLine(line) : line);
}

/** Returns a function that passes the standard error of a server on; to a terminal, without control characters except colours. */
export function createServerOutputWriter(stderr: Streams['stderr']): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  return (chunk) => {
    const text = decoder.write(chunk);
    stderr.write(stderr.isTTY === true ? sanitizeColoured(text) : text);
  };
}

/** Converts a JSON log line to the form for terminals. */
export function formatLogLine(line: string): string {
  const {
    time: _,
    level,
    message,
    ...fields
  } = JSON.parse(line) as JsonObject & { level: LogLevel; message: string };
  const rest = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  // Text of servers that spans several lines must not look like separate log lines.
  const text = sanitize([message, ...rest].join(' ')).replaceAll('\n', '\n  ');
  return `${level}: ${text}\n`;
}
