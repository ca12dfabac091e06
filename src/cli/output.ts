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
    note: (text) => void streams.stderr.write(`${text}\n`),
    problem: (error) => void streams.stderr.write(`trunkline: ${error.message} [${error.code}]\n`),
  };
}

/** Columns of equal width, separated by two spaces; the last one is not padded. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
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
  return `${level}: ${[message, ...rest].join(' ')}\n`;
}
