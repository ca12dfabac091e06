import { stringifyExact } from '../lib/exact-json.ts';
import { GatewayError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { LogLevel } from '../observe/log.ts';
import { harmless } from './harmless.ts';
import { paint } from './print/paint.ts';
import type { Paint } from './print/paint.ts';
import { prose } from './print/prose.ts';
import { StatusLine } from './print/progress.ts';
import type { Progress } from './print/progress.ts';
import type { Style } from './print/style.ts';
import { table } from './print/table.ts';
import type { Cell, TableOptions } from './print/table.ts';

/** The only place that writes for people. Standard output belongs to results, everything else goes to standard error. */
export interface Output {
  readonly style: Style;
  /** Colours for standard output. */
  readonly paint: Paint;
  /** A line of the result, as it is; what servers said must have been made harmless. */
  line(text: string): void;
  /** The same for sentences, which are broken between words on a terminal. */
  prose(text: string): void;
  /** The result as one JSON document; numbers that were read exactly are written exactly. */
  json(value: unknown): void;
  /** Rows of the result; cells are made harmless. */
  table(rows: readonly (readonly Cell[])[], options?: Omit<TableOptions, 'width'>): void;
  note(text: string): void;
  /** Rows beside the result; a last cell that is too wide goes on below itself. */
  noteTable(rows: readonly (readonly Cell[])[]): void;
  /** A question at the terminal; the answer is typed behind it. */
  question(text: string): void;
  problem(error: GatewayError): void;
  /** What the parser of the command line says is wrong with it. */
  usage(text: string): void;
  /** For whatever may take longer than half a second. */
  progress(label: string): Progress;
  /** The same for one piece of work. */
  during<T>(label: string, work: () => Promise<T>): Promise<T>;
  /** Nothing is drawn while a person is asked. */
  pause(): Disposable;
}

interface Streams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };
}

const PLAIN: Style = {
  format: 'text',
  isJsonAsked: false,
  isOutColoured: false,
  isErrColoured: false,
  width: Infinity,
  errWidth: Infinity,
  progress: 'none',
};

export function output({ stdout, stderr }: Streams, style: Style = PLAIN): Output {
  const onErr = paint(style.isErrColoured);
  const status = new StatusLine({ stderr, paint: onErr, how: style.progress });
  const tell = (text: string): void => {
    status.clear();
    stderr.write(`${text}\n`);
  };
  const line = (text: string): void => {
    status.clear();
    stdout.write(`${text}\n`);
  };
  const problem = (error: GatewayError): void => {
    const { code, message, details } = error;
    if (style.isJsonAsked) return tell(JSON.stringify({ code, message, details }));
    const [name, end] = ['trunkline:', `[${code}]`];
    const text = prose(`${name} ${harmless(message)} ${end}`, style.errWidth);
    tell(onErr.red(name) + text.slice(name.length, -end.length) + onErr.dim(end));
  };
  return {
    style,
    paint: paint(style.isOutColoured),
    line,
    prose: (text) => line(prose(text, style.width)),
    json: (value) => line(stringifyExact(value, 2)),
    table: (rows, options) => {
      const safe = rows.map((row) => row.map(harmlessCell));
      for (const each of table(safe, { width: style.width, ...options })) line(each);
    },
    // Whoever reads JSON there can take every line for JSON.
    note: (text) =>
      tell(style.isJsonAsked ? JSON.stringify({ note: text }) : prose(harmless(text), style.errWidth)),
    noteTable: (rows) => {
      const safe = rows.map((row) => row.map(harmlessCell));
      for (const each of table(safe, { width: style.errWidth, last: 'wrap' })) tell(each);
    },
    question: (text) => void stderr.write(`${prose(harmless(text), style.errWidth)} `),
    problem,
    usage: (text) => {
      if (!style.isJsonAsked) return tell(text.trimEnd());
      // The parser writes the mistake and the advice apart; the advice is for people.
      if (text.startsWith('error: ')) problem(new GatewayError('USAGE', text.slice('error: '.length).trim()));
    },
    progress: (label) => status.start(label),
    pause: () => status.pause(),
    during: async (label, work) => {
      using _ = status.start(label);
      return await work();
    },
  };
}

function harmlessCell(cell: Cell): Cell {
  return typeof cell === 'string' ? harmless(cell) : { ...cell, text: harmless(cell.text) };
}

/** Writes log lines: as they are, or at a terminal as people read them. */
export function logTo(stderr: Streams['stderr']): (line: string) => void {
  return (line) => void stderr.write(stderr.isTTY === true ? logLineForPeople(line) : line);
}

/** A log line as a person at a terminal reads it. */
export function logLineForPeople(line: string): string {
  const {
    time: _,
    level,
    message,
    ...fields
  } = JSON.parse(line) as JsonObject & { level: LogLevel; message: string };
  const rest = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  // What others say over several lines must not look like lines of ours.
  const text = harmless([message, ...rest].join(' ')).replaceAll('\n', '\n  ');
  return `${level}: ${text}\n`;
}
