import type { JsonObject } from '../../model/json.ts';
import type { Logger } from '../log.ts';

/** Told of what concerns one server. */
type Note = (server: string, text: string) => void;

/** A logger that also notes what concerns a server, whatever level is written elsewhere; debugging is not noted. */
export function notingLogger(log: Logger, note: Note, fields: JsonObject = {}): Logger {
  const noted =
    (level: 'info' | 'warn' | 'error') =>
    (message: string, more: JsonObject = {}): void => {
      log[level](message, more);
      const { upstream, ...rest } = { ...fields, ...more };
      if (typeof upstream === 'string') note(upstream, sentence(level, message, rest));
    };
  return {
    debug: (message, more) => log.debug(message, more),
    info: noted('info'),
    warn: noted('warn'),
    error: noted('error'),
    with: (more) => notingLogger(log.with(more), note, { ...fields, ...more }),
  };
}

function sentence(level: string, message: string, fields: JsonObject): string {
  const { reason, ...others } = fields;
  const more = Object.keys(others).length === 0 ? '' : ` ${JSON.stringify(others)}`;
  return `${level}: ${message}${typeof reason === 'string' ? ` ${reason}` : ''}${more}`;
}
