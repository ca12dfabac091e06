import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

export interface LogTail {
  /** The oldest first. */
  readonly lines: readonly LogLine[];
  /** Whether there is more before them. */
  readonly hasMore: boolean;
  /** Where the file ended. */
  readonly next: number;
}

export interface LogLine {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly from: 'stderr' | 'gateway';
  readonly text: string;
}

/** More than is ever shown at once. */
const MAX_READ = 1024 * 1024;
const LINE = /^(\S{20,30}) (stderr|gateway) (.*)$/;

/** The last lines of a server's log and of the one before it; behind `from`, only what is new. */
export function readTail(
  file: string,
  { lines, from }: { readonly lines: number; readonly from?: number | undefined },
): LogTail {
  const own = readEnd(file, from);
  // What is shorter than before is a new file.
  const isAnother = from !== undefined && own.size < from;
  const since = isAnother ? readEnd(file, undefined) : own;
  const isShort = from === undefined && since.lines.length < lines && !since.isCut;
  const before = isShort ? readEnd(`${file}.1`, undefined) : undefined;
  const all = [...(before?.lines ?? []), ...since.lines];
  return {
    lines: all.slice(-lines).flatMap(parsed),
    hasMore: all.length > lines || since.isCut || before?.isCut === true,
    next: own.size,
  };
}

interface End {
  readonly lines: readonly string[];
  readonly size: number;
  readonly isCut: boolean;
}

function readEnd(file: string, from: number | undefined): End {
  let handle: number | undefined;
  try {
    handle = openSync(file, 'r');
    const { size } = fstatSync(handle);
    const start = Math.max(Math.min(from ?? 0, size), size - MAX_READ);
    const bytes = Buffer.alloc(size - start);
    const read = readSync(handle, bytes, 0, bytes.length, start);
    const isCut = start > (from ?? 0);
    const lines = bytes
      .toString('utf8', 0, read)
      .split('\n')
      .filter((line) => line !== '');
    return { lines: isCut ? lines.slice(1) : lines, size, isCut };
  } catch {
    return { lines: [], size: 0, isCut: false }; // Nothing was logged yet.
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

function parsed(line: string): readonly LogLine[] {
  const [, time = '', from, text = ''] = LINE.exec(line) ?? [];
  if (from !== 'stderr' && from !== 'gateway') return [];
  return [{ at: Date.parse(time), from, text }];
}
