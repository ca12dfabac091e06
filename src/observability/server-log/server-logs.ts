import { createHash } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';

import type { JsonObject } from '../../core/json.ts';
import { stripControls } from '../../core/lib/strip-controls.ts';
import type { Logger } from '../log.ts';
import { RotatingFile } from '../rotating-file.ts';
import { createSecretSearch } from '../secret-formats.ts';
import { readLogTail } from './read-log-tail.ts';
import type { LogTail } from './read-log-tail.ts';

interface ServerLogsOptions {
  /** The folder of the logs, which is created with the first line. */
  readonly folder: string;
  readonly now: () => number;
}

/** The size of a log file, and the number of rotated files that are kept. */
const FILE_LIMITS = { maxBytes: 1024 * 1024, maxOldFiles: 2 };
const MAX_LINE_CHARS = 4000;
/** The maximum characters of a line whose end has not arrived yet. */
const MAX_PARTIAL_CHARS = 64 * 1024;
/**
 * The approximate maximum of characters per server and flush. Further lines are dropped, because a flood of
 * output must not keep the disk busy.
 */
const MAX_PENDING_CHARS = 256 * 1024;
/** The delay between a line and its write to the file. */
const FLUSH_MS = 100;
/** Logs of removed servers are kept for a week, because a server may be added again. */
const RETENTION_MS = 7 * 24 * 3_600_000;

interface ServerLog {
  readonly file: RotatingFile;
  readonly mask: SecretMask;
  readonly decoder: StringDecoder;
  /** The beginning of a line whose end has not arrived yet. */
  partialLine: string;
  /** Whether output is skipped until the end of an overlong line. */
  isSkipping: boolean;
  /** Lines that the next flush writes. */
  pending: string;
  droppedLines: number;
}

/** Keeps one log file per server, with the standard error of its processes and our messages about it. Secrets are masked. */
export class ServerLogs implements Disposable {
  readonly #options: ServerLogsOptions;
  readonly #logs = new Map<string, ServerLog>();
  /** Removed servers, whose output is ignored until they are added again. */
  readonly #removed = new Set<string>();
  #flushTimer: NodeJS.Timeout | undefined;

  constructor(options: ServerLogsOptions) {
    this.#options = options;
  }

  /** Returns the text with the known secrets of the server masked. */
  mask(server: string, text: string): string {
    return this.#logOf(server).mask.mask(text);
  }

  /** Adds values that must not appear in the log of a server. Called before the server starts. */
  addSecrets(server: string, values: Iterable<string>): void {
    this.#removed.delete(server);
    this.#logOf(server).mask.add(values);
  }

  /** Writes the complete lines of a server's standard error, and keeps the last, incomplete one. */
  writeStderr(server: string, chunk: Buffer): void {
    if (this.#removed.has(server)) return;
    const log = this.#logOf(server);
    const lines = (log.partialLine + log.decoder.write(chunk)).split('\n');
    log.partialLine = lines.pop() ?? '';
    // While skipping, the first of these lines is the rest of the overlong line.
    for (const [index, line] of lines.entries())
      if (index > 0 || !log.isSkipping) this.#write(log, 'stderr', line);
    if (lines.length > 0) log.isSkipping = false;
    if (log.isSkipping) log.partialLine = '';
    else if (log.partialLine.length > MAX_PARTIAL_CHARS) {
      // The rest of the line is skipped, because a secret that is split between two pieces would not be recognized.
      this.#write(log, 'stderr', log.partialLine);
      log.partialLine = '';
      log.isSkipping = true;
    }
    this.#scheduleFlush();
  }

  /** Writes a message of the gateway about a server. */
  note(server: string, text: string): void {
    if (this.#removed.has(server)) return;
    this.#write(this.#logOf(server), 'gateway', text.replaceAll('\n', ' '));
    this.#scheduleFlush();
  }

  /** Returns the last lines, or those after a position in the file. */
  tail(server: string, options: { readonly lines: number; readonly from?: number | undefined }): LogTail {
    this.#flush();
    return readLogTail(this.fileOf(server), options);
  }

  fileOf(server: string): string {
    return join(this.#options.folder, logFileName(server));
  }

  /** Deletes the log of a removed server. Output of its ending processes is no longer logged. */
  forget(server: string): void {
    this.#removed.add(server);
    this.#logs.delete(server);
    for (const name of this.#fileNames()) if (logNameOf(name) === logFileName(server)) this.#deleteFile(name);
  }

  /** Deletes logs of servers that are not configured and wrote nothing for a week. */
  sweep(configuredServers: Iterable<string>): void {
    const configuredLogs = new Set([...configuredServers].map(logFileName));
    for (const name of this.#fileNames()) {
      const logName = logNameOf(name);
      if (logName === undefined || configuredLogs.has(logName)) continue;
      const stat = statSync(join(this.#options.folder, name), { throwIfNoEntry: false });
      if (stat !== undefined && this.#options.now() - stat.mtimeMs > RETENTION_MS) this.#deleteFile(name);
    }
  }

  [Symbol.dispose](): void {
    for (const log of this.#logs.values()) {
      const lastLine = log.partialLine + log.decoder.end();
      log.partialLine = '';
      this.#write(log, 'stderr', lastLine);
    }
    this.#flush();
  }

  #logOf(server: string): ServerLog {
    let log = this.#logs.get(server);
    if (log === undefined) {
      log = {
        file: new RotatingFile(this.fileOf(server), FILE_LIMITS),
        mask: new SecretMask(),
        decoder: new StringDecoder('utf8'),
        partialLine: '',
        isSkipping: false,
        pending: '',
        droppedLines: 0,
      };
      this.#logs.set(server, log);
    }
    return log;
  }

  #write(log: ServerLog, from: 'stderr' | 'gateway', line: string): void {
    if (line.trim() === '') return;
    if (log.pending.length > MAX_PENDING_CHARS) {
      log.droppedLines++;
      return;
    }
    // Control sequences are stripped before masking, and the line is cut after masking. Otherwise, a secret that
    // contains a control sequence, or that the cut splits, would not be recognized.
    const text = log.mask.mask(stripControls(line)).slice(0, MAX_LINE_CHARS);
    log.pending += `${new Date(this.#options.now()).toISOString()} ${from} ${text}\n`;
  }

  #scheduleFlush(): void {
    this.#flushTimer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref();
  }

  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    for (const log of this.#logs.values()) {
      const { pending, droppedLines } = log;
      if (pending === '') continue;
      log.pending = '';
      log.droppedLines = 0;
      const time = new Date(this.#options.now()).toISOString();
      const notice =
        droppedLines === 0
          ? ''
          : `${time} gateway ${droppedLines} lines were dropped: the server wrote too much at once\n`;
      log.file.write(pending + notice);
    }
  }

  #fileNames(): readonly string[] {
    try {
      return readdirSync(this.#options.folder);
    } catch {
      return []; // Nothing was logged yet.
    }
  }

  /** Deletes a file and ignores errors, because a later `sweep` tries again. */
  #deleteFile(name: string): void {
    try {
      rmSync(join(this.#options.folder, name), { force: true });
    } catch {
      // The file stays until then.
    }
  }
}

/** Returns the log to which a file belongs, also for rotated files; undefined for other files. */
function logNameOf(name: string): string | undefined {
  return /^(.*\.log)(?:\.\d+)?$/.exec(name)?.[1];
}

const PLAIN_NAME = /^[a-z0-9][a-z0-9._-]{0,79}$/;
/** Names that Windows reserves for devices. */
const RESERVED_NAME = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/** Returns a unique file name for a server, also on file systems that ignore case. A plain name is used unchanged. */
export function logFileName(server: string): string {
  if (PLAIN_NAME.test(server) && !RESERVED_NAME.test(server) && !server.endsWith('.')) return `${server}.log`;
  const readable = server.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60);
  // Plain names have no tilde, so the result cannot collide with one.
  return `${readable}~${createHash('sha256').update(server).digest('hex').slice(0, 12)}.log`;
}

const MASK = '•••';
/** Shorter values occur in ordinary words. */
const MIN_SECRET_CHARS = 4;
/** Shorter lines of a secret with several lines are too common to be masked. */
const MIN_SECRET_LINE_CHARS = 12;
/** The maximum number of forms of secrets; beyond it, the shortest are not masked. */
const MAX_SECRETS = 500;

/** Masks known secrets, and texts with the format of a secret. */
class SecretMask {
  readonly #search = createSecretSearch();
  #secrets: ReadonlySet<string> = new Set();

  /** Adds secrets. Earlier secrets are still masked, because output with them may arrive later. */
  add(secrets: Iterable<string>): void {
    const encodings = new Set(this.#secrets);
    for (const secret of secrets) for (const encoding of encodingsOf(secret)) encodings.add(encoding);
    // The longest come first: if a secret contains another one, masking the shorter first would leave the rest visible.
    this.#secrets = new Set([...encodings].toSorted((a, b) => b.length - a.length).slice(0, MAX_SECRETS));
  }

  mask(line: string): string {
    let masked = line;
    for (const secret of this.#secrets) if (masked.includes(secret)) masked = masked.replaceAll(secret, MASK);
    return this.#search.mask(masked, MASK);
  }
}

/** Returns the forms in which programs print a secret: unchanged, line by line, in JSON, in a URL, and in Base64. */
function encodingsOf(secret: string): readonly string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const plain = [secret, ...lines.filter((line) => line.length >= MIN_SECRET_LINE_CHARS)];
  const encoded = plain.flatMap((text) => [
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text),
    Buffer.from(text).toString('base64').replace(/=+$/, ''),
  ]);
  return [...new Set([...plain, ...encoded])].filter((text) => text.length >= MIN_SECRET_CHARS);
}

/** Returns a logger that also writes messages with a field `upstream` to the log of that server, except debug messages. */
export function teeToServerLogs(
  log: Logger,
  note: (server: string, text: string) => void,
  fields: JsonObject = {},
): Logger {
  const writeAt =
    (level: 'info' | 'warn' | 'error') =>
    (message: string, more: JsonObject = {}): void => {
      log[level](message, more);
      const { upstream, ...rest } = { ...fields, ...more };
      if (typeof upstream === 'string') note(upstream, formatMessage(level, message, rest));
    };
  return {
    debug: (message, more) => log.debug(message, more),
    info: writeAt('info'),
    warn: writeAt('warn'),
    error: writeAt('error'),
    with: (more) => teeToServerLogs(log.with(more), note, { ...fields, ...more }),
  };
}

function formatMessage(level: string, message: string, fields: JsonObject): string {
  const { reason, ...others } = fields;
  const details = Object.keys(others).length === 0 ? '' : ` ${JSON.stringify(others)}`;
  return `${level}: ${message}${typeof reason === 'string' ? ` ${reason}` : ''}${details}`;
}
