import type { JsonObject } from '../model/json.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
/** As a function where the configuration decides, which may change. */
export type LevelSource = LogLevel | (() => LogLevel);

/** Messages are constant sentences; values go into fields. */
export interface Logger {
  debug(message: string, fields?: JsonObject): void;
  info(message: string, fields?: JsonObject): void;
  warn(message: string, fields?: JsonObject): void;
  error(message: string, fields?: JsonObject): void;
  with(fields: JsonObject): Logger;
}

const RANK: Record<LogLevel, number> = { debug: 10, info: 20, warn: 30, error: 40 };

/** One JSON line per message. Twenty lines of our own: a logging library would cost a tenth of a warm start. */
export function jsonLogger(options: {
  readonly level: LevelSource;
  readonly write: (line: string) => void;
  readonly now?: () => Date;
  readonly fields?: JsonObject;
}): Logger {
  const { level, write, now = () => new Date(), fields = {} } = options;
  const at =
    (rank: LogLevel) =>
    (message: string, more: JsonObject = {}): void => {
      if (RANK[rank] < RANK[typeof level === 'function' ? level() : level]) return;
      write(`${JSON.stringify({ time: now().toISOString(), level: rank, message, ...fields, ...more })}\n`);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (more) => jsonLogger({ ...options, fields: { ...fields, ...more } }),
  };
}

export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLogger,
};
