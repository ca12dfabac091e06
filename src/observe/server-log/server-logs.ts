import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';

import { printable } from '../../lib/printable.ts';
import { RotatingFile } from '../rotating-file.ts';
import { LineMask } from './line-mask.ts';
import { logFileName } from './log-file-name.ts';
import { readTail } from './read-tail.ts';
import type { LogTail } from './read-tail.ts';

interface ServerLogsOptions {
  /** The folder of these logs; made when something is written. */
  readonly folder: string;
  readonly now: () => number;
}

const KEPT = { maxBytes: 1024 * 1024, kept: 2 };
const MAX_LINE = 4000;
const MAX_UNENDED = 64 * 1024;
/** What one server may write in one moment; a flood must not fill the disk's time. */
const MAX_PENDING = 256 * 1024;
const FLUSH_MS = 100;
/** A server that left the configuration may come back; after this nobody looks for its log any more. */
const AGES_OUT_MS = 7 * 24 * 3_600_000;

interface OneLog {
  readonly file: RotatingFile;
  readonly mask: LineMask;
  readonly decoder: StringDecoder;
  rest: string;
  isSkipping: boolean;
  pending: string;
  dropped: number;
}

/** One log per server: what its processes write to standard error, and what goes wrong with them. Secrets are hidden. */
export class ServerLogs implements Disposable {
  readonly #options: ServerLogsOptions;
  readonly #logs = new Map<string, OneLog>();
  readonly #gone = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ServerLogsOptions) {
    this.#options = options;
  }

  /** What must not be in the log of this server, which is about to be started. */
  hide(server: string, values: Iterable<string>): void {
    this.#gone.delete(server);
    this.#of(server).mask.add(values);
  }

  stderr(server: string, chunk: Buffer): void {
    if (this.#gone.has(server)) return;
    const log = this.#of(server);
    const lines = (log.rest + log.decoder.write(chunk)).split('\n');
    log.rest = lines.pop() ?? '';
    for (const [at, line] of lines.entries()) if (at > 0 || !log.isSkipping) this.#write(log, 'stderr', line);
    if (lines.length > 0) log.isSkipping = false;
    if (log.isSkipping) log.rest = '';
    else if (log.rest.length > MAX_UNENDED) {
      // The rest of a line without an end is skipped: half a secret in it would not be recognised.
      this.#write(log, 'stderr', log.rest);
      [log.rest, log.isSkipping] = ['', true];
    }
    this.#soon();
  }

  /** Something that we noticed about it. */
  note(server: string, text: string): void {
    if (this.#gone.has(server)) return;
    this.#write(this.#of(server), 'gateway', text.replaceAll('\n', ' '));
    this.#soon();
  }

  /** The last lines, or what was written behind a place in the file. */
  tail(server: string, options: { readonly lines: number; readonly from?: number | undefined }): LogTail {
    this.#flush();
    return readTail(this.fileOf(server), options);
  }

  fileOf(server: string): string {
    return join(this.#options.folder, logFileName(server));
  }

  /** Removes what was logged of a server that is gone; what its processes say at their end is not logged any more. */
  forget(server: string): void {
    this.#gone.add(server);
    this.#logs.delete(server);
    for (const name of this.#files()) if (baseOf(name) === logFileName(server)) this.#remove(name);
  }

  /** Removes old logs of servers that nobody has configured for a long time. */
  sweep(known: Iterable<string>): void {
    const kept = new Set([...known].map(logFileName));
    for (const name of this.#files()) {
      const base = baseOf(name);
      if (base === undefined || kept.has(base)) continue;
      const stat = statSync(join(this.#options.folder, name), { throwIfNoEntry: false });
      if (stat !== undefined && this.#options.now() - stat.mtimeMs > AGES_OUT_MS) this.#remove(name);
    }
  }

  [Symbol.dispose](): void {
    for (const log of this.#logs.values()) {
      const rest = log.rest + log.decoder.end();
      log.rest = '';
      this.#write(log, 'stderr', rest);
    }
    this.#flush();
  }

  #of(server: string): OneLog {
    let log = this.#logs.get(server);
    if (log === undefined) {
      log = {
        file: new RotatingFile(this.fileOf(server), KEPT),
        mask: new LineMask(),
        decoder: new StringDecoder('utf8'),
        ...{ rest: '', isSkipping: false, pending: '', dropped: 0 },
      };
      this.#logs.set(server, log);
    }
    return log;
  }

  #write(log: OneLog, from: 'stderr' | 'gateway', line: string): void {
    if (line.trim() === '') return;
    if (log.pending.length > MAX_PENDING) {
      log.dropped++;
      return;
    }
    // Cut only after masking, since half a secret is not recognised, nor one with a colour in it.
    const text = log.mask.mask(printable(line)).slice(0, MAX_LINE);
    log.pending += `${new Date(this.#options.now()).toISOString()} ${from} ${text}\n`;
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const log of this.#logs.values()) {
      const { pending, dropped } = log;
      if (pending === '') continue;
      [log.pending, log.dropped] = ['', 0];
      const time = new Date(this.#options.now()).toISOString();
      const more =
        dropped === 0 ? '' : `${time} gateway ${dropped} more lines came at once and were left out\n`;
      log.file.write(pending + more);
    }
  }

  #files(): readonly string[] {
    try {
      return readdirSync(this.#options.folder);
    } catch {
      return []; // Nothing was ever logged.
    }
  }

  /** Best effort: what cannot be removed ages out. */
  #remove(name: string): void {
    try {
      rmSync(join(this.#options.folder, name), { force: true });
    } catch {
      // It is tried again at the next start.
    }
  }
}

/** Of which log a file is, be it an older part of it; undefined where it is none. */
function baseOf(name: string): string | undefined {
  return /^(.*\.log)(?:\.\d+)?$/.exec(name)?.[1];
}
