import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The socket of the session bus, as Node connects to it; undefined where there is no session. */
export function sessionBus(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const named = env['DBUS_SESSION_BUS_ADDRESS'];
  if (named !== undefined && named !== '') {
    for (const address of named.split(';')) {
      const [transport = '', rest = ''] = address.split(/:(.*)/s);
      if (transport !== 'unix') continue;
      const options = new Map(rest.split(',').map((pair) => pair.split(/=(.*)/s, 2) as [string, string]));
      const path = options.get('path');
      if (path !== undefined) return unescaped(path);
      const abstract = options.get('abstract');
      // Node's way to say that a name is in no file system.
      if (abstract !== undefined) return `\0${unescaped(abstract)}`;
    }
    return undefined;
  }
  const runtime = env['XDG_RUNTIME_DIR'];
  if (runtime === undefined || runtime === '') return undefined;
  const path = join(runtime, 'bus');
  return existsSync(path) ? path : undefined;
}

function unescaped(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value; // Whoever wrote it did not escape anything.
  }
}
