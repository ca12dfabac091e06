import { rmSync } from 'node:fs';
import {
  readProcessRecords,
  readCurrentRecord,
  removeProcessRecords,
  writeCurrentRecord,
  writeProcessRecord,
} from './shared-gateway/gateway-record.ts';
import type { GatewayRecord } from './shared-gateway/gateway-record.ts';
import { hashIdentity } from './shared-gateway/gateway-identity.ts';
import { isProcessAlive } from '../core/lib/is-process-alive.ts';
import { isUnwritable } from '../core/lib/is-unwritable.ts';
import type { Logger } from '../observability/log.ts';
import type { AppOptions } from './app-options.ts';

/** Interval at which the gateway checks whether its record still exists. */
const CHECK_EVERY_MS = 30_000;

export interface GatewayAnnouncement extends AsyncDisposable {
  /** Updates the record after a reload; `text` is the configuration that is active now. */
  updateConfigText(text: string): void;
}

/** Writes the record by which commands and stdio clients find this gateway. Keeps the record correct until the gateway stops. */
export function announceGateway(
  options: AppOptions,
  deps: {
    readonly socket: string;
    readonly text: string;
    readonly url: string | undefined;
    readonly log: Logger;
    /** Called when another gateway has replaced this one. */
    readonly onReplaced: () => void;
  },
): GatewayAnnouncement {
  const { stateDir, pid, version, file } = options;
  const { socket, text, url, log, onReplaced } = deps;
  let record: GatewayRecord = {
    socket,
    pid,
    kind: options.http === undefined ? 'background' : 'http',
    ...hashIdentity({ version, config: file, text }),
    url,
    since: Date.now(),
  };
  try {
    sweep(stateDir);
    writeProcessRecord(stateDir, record);
    writeCurrentRecord(stateDir, record);
  } catch (error) {
    // An HTTP gateway can run with a read-only state folder: its clients know the address and need no record.
    if (record.kind === 'background' || !isUnwritable(error)) throw error;
    return { updateConfigText: () => {}, [Symbol.asyncDispose]: async () => {} };
  }
  log.debug('Clients can find the gateway.', { pid, version, config: file, kind: record.kind });
  const checkRecord = (): void => {
    const found = readCurrentRecord(stateDir);
    if (found?.pid === pid) return;
    if (found !== undefined && isProcessAlive(found.pid)) return onReplaced();
    try {
      writeCurrentRecord(stateDir, record);
    } catch (error) {
      log.warn('Cannot write run/gateway.json.', { reason: String(error) });
    }
  };
  const timer = setInterval(checkRecord, CHECK_EVERY_MS).unref();
  return {
    updateConfigText: (changed) => {
      record = { ...record, ...hashIdentity({ version, config: file, text: changed }) };
      writeProcessRecord(stateDir, record);
      // Another gateway may have replaced this one; its record must stay.
      if (readCurrentRecord(stateDir)?.pid === pid) writeCurrentRecord(stateDir, record);
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      removeProcessRecords(stateDir, pid);
    },
  };
}

/** Removes sockets and records of gateways that crashed. */
function sweep(stateDir: string): void {
  const current = readCurrentRecord(stateDir);
  for (const { pid, socket } of [
    ...(current === undefined ? [] : [current]),
    ...readProcessRecords(stateDir),
  ]) {
    if (isProcessAlive(pid)) continue;
    if (socket.endsWith('.sock')) rmSync(socket, { force: true });
    removeProcessRecords(stateDir, pid);
  }
}
