import type { GatewayError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { LogLevel } from '../observe/log.ts';

/** The only place that writes for people. Standard output belongs to results, everything else goes to standard error. */
export interface Output {
  line(text: string): void;
  note(text: string): void;
  problem(error: GatewayError): void;
}

export function output(streams: {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}): Output {
  return {
    line: (text) => void streams.stdout.write(`${text}\n`),
    note: (text) => void streams.stderr.write(`${harmless(text)}\n`),
    problem: (error) => void streams.stderr.write(`trunkline: ${harmless(error.message)} [${error.code}]\n`),
  };
}

/** Columns of equal width, separated by two spaces; the last cell of a row is not padded and may be of any length. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.slice(0, -1).forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
  }
  return rows.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
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

/** Much of what we show was said by servers, and must not control somebody's terminal. */
function harmless(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}
