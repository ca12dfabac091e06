import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

export interface LogTail {
  /** The lines, oldest first. */
  readonly lines: readonly LogLine[];
  /** Whether older lines exist. */
  readonly hasMore: boolean;
  /** The end of the file, as `from` of the next read. */
  readonly next: number;
}

export interface LogLine {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly from: 'stderr' | 'gateway';
  readonly text: string;
}

/** The maximum number of bytes that are read from a file, which is more than any client shows at once. */
const MAX_READ_BYTES = 1024 * 1024;
const LINE = /^(\S{20,30}) (stderr|gateway) (.*)$/;

/** Returns the last lines of a log, with those of its newest rotated file if necessary; with `from`, only lines after that position. */
export function readLogTail(
  file: string,
  { lines, from }: { readonly lines: number; readonly from?: number | undefined },
): LogTail {
  const newest = readEnd(file, from);
  // A file that is shorter than `from` was replaced by rotation, so it is read from its beginning.
  const isReplaced = from !== undefined && newest.size < from;
  const current = isReplaced ? readEnd(file, undefined) : newest;
  const needsMore = from === undefined && current.lines.length < lines && !current.isCut;
  const rotated = needsMore ? readEnd(`${file}.1`, undefined) : undefined;
  const allLines = [...(rotated?.lines ?? []), ...current.lines];
  return {
    lines: allLines.slice(-lines).flatMap(parseLine),
    hasMore: allLines.length > lines || current.isCut || rotated?.isCut === true,
    next: newest.size,
  };
}

interface FileEnd {
  readonly lines: readonly string[];
  readonly size: number;
  /** Whether the file has earlier lines that were not read. */
  readonly isCut: boolean;
}

function readEnd(file: string, from: number | undefined): FileEnd {
  let handle: number | undefined;
  try {
    handle = openSync(file, 'r');
    const { size } = fstatSync(handle);
    const start = Math.max(Math.min(from ?? 0, size), size - MAX_READ_BYTES);
    const buffer = Buffer.alloc(size - start);
    const byteCount = readSync(handle, buffer, 0, buffer.length, start);
    const isCut = start > (from ?? 0);
    const lines = buffer
      .toString('utf8', 0, byteCount)
      .split('\n')
      .filter((line) => line !== '');
    // The first line of a cut file is usually incomplete.
    return { lines: isCut ? lines.slice(1) : lines, size, isCut };
  } catch {
    return { lines: [], size: 0, isCut: false }; // Nothing was logged yet.
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

function parseLine(line: string): readonly LogLine[] {
  const [, time = '', from, text = ''] = LINE.exec(line) ?? [];
  if (from !== 'stderr' && from !== 'gateway') return [];
  return [{ at: Date.parse(time), from, text }];
}
