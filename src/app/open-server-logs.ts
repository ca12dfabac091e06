import { join } from 'node:path';
import type { ConfigSnapshot } from '../config/config.ts';
import type { Scope } from '../core/lib/scope.ts';
import type { Logger } from '../observability/log.ts';
import { ServerLogs, teeToServerLogs } from '../observability/server-log/server-logs.ts';
import type { ServerOpenerDeps } from '../upstream/server-opener.ts';
import type { UpstreamPool } from '../upstream/upstream-pool.ts';
import { hasCommandLineServers } from './app-options.ts';
import type { AppOptions } from './app-options.ts';

interface ServerLogging extends Pick<ServerOpenerDeps, 'onStderr' | 'onSecrets'> {
  /** Undefined for servers on the command line, whose output goes to the terminal. */
  readonly serverLogs: ServerLogs | undefined;
  /** Also writes messages about a server to its log. */
  readonly log: Logger;
}

/** Delay before the logs of removed servers are deleted, so that the deletion does not slow down the first responses. */
const SWEEP_AFTER_MS = 10_000;

/** Opens one log per server of the configuration. */
export function openServerLogs(
  options: AppOptions,
  config: () => ConfigSnapshot,
  { scope, log }: { readonly scope: Scope; readonly log: Logger },
): ServerLogging {
  const { wrapped, stateDir } = options;
  if (hasCommandLineServers(options)) return { serverLogs: undefined, log, onStderr: wrapped?.onStderr };
  const logs = new ServerLogs({ folder: join(stateDir, 'logs', 'servers'), now: Date.now });
  scope.defer(() => logs[Symbol.dispose]());
  const sweep = (): void => {
    const { value, disabled, warnings } = config();
    // If there are warnings, an invalid entry may have no upstream. The log of such an entry is kept, because it may help to find the error.
    if (warnings.length === 0) logs.sweep([...value.upstreams.map(({ name }) => name), ...disabled]);
  };
  const timer = setTimeout(sweep, SWEEP_AFTER_MS).unref();
  scope.defer(() => clearTimeout(timer));
  return {
    serverLogs: logs,
    log: teeToServerLogs(log, (server, text) => logs.note(server, text)),
    onStderr: (chunk, server) => logs.writeStderr(server, chunk),
    onSecrets: (server, values) => logs.addSecrets(server, values),
  };
}

/** Writes a line to a server's log when a connection is ready. The line separates the runs of the server. `ServerLogging.log` reports failures. */
export function logConnections(logs: ServerLogs, { events }: Pick<UpstreamPool, 'events'>): void {
  events.on('state', ({ name, state }) => {
    if (state.kind === 'ready') logs.note(name, 'info: Connected.');
  });
}
