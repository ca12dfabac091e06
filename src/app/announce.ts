import { rmSync } from 'node:fs';
import {
  readAnnounced,
  readPlace,
  removeRecord,
  takePlace,
  writeAnnounced,
} from '../attach/gateway-record.ts';
import type { GatewayRecord } from '../attach/gateway-record.ts';
import { identified } from '../attach/identity.ts';
import { isAlive } from '../attach/is-alive.ts';
import { isUnwritable } from '../lib/is-unwritable.ts';
import type { Logger } from '../observe/log.ts';
import type { AppOptions } from './app-options.ts';

const LOOK_EVERY_MS = 30_000;

export interface Announced extends AsyncDisposable {
  /** The configuration says this from now on. */
  runsWith(text: string): void;
}

/** Writes down where this gateway is found, and sees to it that this stays true until it ends. */
export function announce(
  options: AppOptions,
  deps: {
    readonly socket: string;
    readonly text: string;
    readonly url: string | undefined;
    readonly log: Logger;
    /** Another gateway has taken our place. */
    readonly onReplaced: () => void;
  },
): Announced {
  const { stateDir, pid, version, file, env } = options;
  const { socket, text, url, log, onReplaced } = deps;
  let record: GatewayRecord = {
    socket,
    pid,
    kind: options.http === undefined ? 'background' : 'http',
    ...identified({ version, config: file, text, env }),
    ...(url !== undefined && { url }),
    since: Date.now(),
  };
  try {
    sweep(stateDir);
    writeAnnounced(stateDir, record);
    takePlace(stateDir, record);
  } catch (error) {
    // Whoever has its address needs no record.
    if (record.kind === 'background' || !isUnwritable(error)) throw error;
    return { runsWith: () => {}, [Symbol.asyncDispose]: async () => {} };
  }
  log.debug('Clients can find the gateway.', { pid, version, config: file, kind: record.kind });
  const look = (): void => {
    const found = readPlace(stateDir);
    if (found?.pid === pid) return;
    if (found !== undefined && isAlive(found.pid)) return onReplaced();
    try {
      takePlace(stateDir, record);
    } catch (error) {
      log.warn('Cannot write run/gateway.json.', { reason: String(error) });
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return {
    runsWith: (changed) => {
      record = { ...record, ...identified({ version, config: file, text: changed, env }) };
      writeAnnounced(stateDir, record);
      // Another gateway may have taken our place.
      if (readPlace(stateDir)?.pid === pid) takePlace(stateDir, record);
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      removeRecord(stateDir, pid);
    },
  };
}

/** A gateway that crashed has left its socket behind, and what it wrote about itself. */
function sweep(stateDir: string): void {
  const place = readPlace(stateDir);
  for (const { pid, socket } of [...(place === undefined ? [] : [place]), ...readAnnounced(stateDir)]) {
    if (isAlive(pid)) continue;
    if (socket.endsWith('.sock')) rmSync(socket, { force: true });
    removeRecord(stateDir, pid);
  }
}
