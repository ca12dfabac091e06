import type { JsonObject } from '../core/json.ts';
import { createSecretSearch } from './secret-formats.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
/** The log level, or a function that returns it if the configuration can change it. */
export type LevelSource = LogLevel | (() => LogLevel);

/** A structured logger. Messages are constant sentences; values go into fields. */
export interface Logger {
  debug(message: string, fields?: JsonObject): void;
  info(message: string, fields?: JsonObject): void;
  warn(message: string, fields?: JsonObject): void;
  error(message: string, fields?: JsonObject): void;
  /** Returns a logger that adds these fields to every message. */
  with(fields: JsonObject): Logger;
}

const RANK: Record<LogLevel, number> = { debug: 10, info: 20, warn: 30, error: 40 };

/** Creates a logger that writes one JSON line per message. A logging library would make a warm start 10 % slower. */
export function createJsonLogger(options: {
  readonly level: LevelSource;
  readonly write: (line: string) => void;
  readonly now?: () => Date;
  readonly fields?: JsonObject;
}): Logger {
  const { level, write, now = () => new Date(), fields = {} } = options;
  const writeAt =
    (lineLevel: LogLevel) =>
    (message: string, more: JsonObject = {}): void => {
      if (RANK[lineLevel] < RANK[typeof level === 'function' ? level() : level]) return;
      write(
        `${stringifyMasked({ time: now().toISOString(), level: lineLevel, message, ...fields, ...more })}\n`,
      );
    };
  return {
    debug: writeAt('debug'),
    info: writeAt('info'),
    warn: writeAt('warn'),
    error: writeAt('error'),
    with: (more) => createJsonLogger({ ...options, fields: { ...fields, ...more } }),
  };
}

const SECRETS = createSecretSearch();

/**
 * Returns a record as JSON with masked secrets. Each text is masked separately, because in the whole line the pattern of a private key
 * would also match the JSON after the key.
 */
function stringifyMasked(record: JsonObject): string {
  const line = JSON.stringify(record);
  if (!SECRETS.mayContain(line)) return line;
  return JSON.stringify(record, (_, value: unknown) =>
    typeof value === 'string' ? SECRETS.mask(value, '[redacted]') : value,
  );
}

export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLogger,
};
