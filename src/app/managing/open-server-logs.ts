import { join } from 'node:path';
import type { ConfigSnapshot } from '../../config/config.ts';
import type { Scope } from '../../lib/scope.ts';
import type { Logger } from '../../observe/log.ts';
import { notingLogger } from '../../observe/server-log/noting-logger.ts';
import { ServerLogs } from '../../observe/server-log/server-logs.ts';
import type { OpenPeerDeps } from '../../upstream/open-peer.ts';
import type { UpstreamPool } from '../../upstream/sharing/pool.ts';
import { isTyped } from '../app-options.ts';
import type { AppOptions } from '../app-options.ts';

interface ServerLogging extends Pick<OpenPeerDeps, 'onStderr' | 'onSecrets'> {
  /** Absent where a person has just typed the server's command and sees what it writes. */
  readonly serverLogs: ServerLogs | undefined;
  /** Also notes what concerns a server in its log. */
  readonly log: Logger;
}

/** Long after whoever waits for the first answer has got it. */
const SWEEP_AFTER_MS = 10_000;

/** One log per server of the configuration. */
export function openServerLogs(
  options: AppOptions,
  current: () => ConfigSnapshot,
  { scope, log }: { readonly scope: Scope; readonly log: Logger },
): ServerLogging {
  const { wrapped, stateDir } = options;
  if (isTyped(options)) return { serverLogs: undefined, log, onStderr: wrapped?.onStderr };
  const logs = new ServerLogs({ folder: join(stateDir, 'logs', 'servers'), now: Date.now });
  scope.defer(() => logs[Symbol.dispose]());
  const sweep = (): void => {
    const { value, disabled, warnings } = current();
    // An entry with a mistake in it is left out, and its log may be what helps.
    if (warnings.length === 0) logs.sweep([...value.upstreams.map(({ name }) => name), ...disabled]);
  };
  const timer = setTimeout(sweep, SWEEP_AFTER_MS).unref();
  scope.defer(() => clearTimeout(timer));
  return {
    serverLogs: logs,
    log: notingLogger(log, (server, text) => logs.note(server, text)),
    onStderr: (chunk, server) => logs.stderr(server, chunk),
    onSecrets: (server, values) => logs.hide(server, values),
  };
}

/** Where a run begins, between what its processes wrote; why one cannot is noted by whoever finds it out. */
export function noteConnections(logs: ServerLogs, { events }: Pick<UpstreamPool, 'events'>): void {
  events.on('state', ({ name, state }) => {
    if (state.at === 'ready') logs.note(name, 'info: Connected.');
  });
}
