import { createAdminClient } from '../../admin/admin-client.ts';
import { readServerSentEvents } from '../../admin/read-server-sent-events.ts';
import { findGatewayRecord } from '../../app/shared-gateway/gateway-record.ts';
import { createSocketFetch } from '../../app/shared-gateway/socket-fetch.ts';
import type { ExitCode } from '../../core/errors.ts';
import { openTrayIcon } from '../tray/open-tray-icon.ts';
import type { GatewayConnector, MonitoredGateway } from '../tray/gateway-monitor.ts';
import { runTray } from '../tray/run-tray.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { locateConfig } from '../locate-config.ts';
import { openBrowser } from '../open-browser.ts';
import { openDashboardLink } from '../open-dashboard-link.ts';
import { startDetached } from '../start-detached.ts';

/** The icon also polls, because a gateway that starts sends no event. */
const POLL_INTERVAL_MS = 2000;

/** Shows the gateway of this configuration as a desktop icon until the user quits it. */
export async function runTrayCommand(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  const { env, platform, pid, out } = context;
  const { file, stateDir, locations } = await locateConfig(options.config, context);
  const stopping = new AbortController();
  context.onStopSignal(() => stopping.abort());
  const reason = await runTray({
    openIcon: (onAction) =>
      openTrayIcon({
        env,
        platform,
        pid,
        uid: process.getuid?.() ?? 0,
        onAction,
        folder: locations.stateDir,
      }),
    connect: createConnector(stateDir),
    openPage: (url) => openBrowser(url, context),
    openDashboardLink: async (link) => (await openDashboardLink(link, stateDir, context)) === 'opened',
    openConfigEditor: () => openEditor(file, platform),
    now: Date.now,
    pollIntervalMs: POLL_INTERVAL_MS,
    signal: stopping.signal,
  });
  if (reason === 'desktop-gone') out.note('The desktop session has ended, so the icon was closed.');
  return 0;
}

/**
 * Returns a connector that reads the gateway's record each time, because the gateway may have been restarted. It does not check whether the
 * gateway answers.
 */
function createConnector(stateDir: string): GatewayConnector {
  let known: { readonly socket: string; readonly gateway: MonitoredGateway } | undefined;
  return () => {
    const socket = findGatewayRecord(stateDir)?.socket;
    if (socket === undefined) return Promise.resolve(undefined);
    if (known?.socket !== socket) known = { socket, gateway: connectToSocket(socket) };
    return Promise.resolve(known.gateway);
  };
}

function connectToSocket(socket: string): MonitoredGateway {
  const send = createSocketFetch(socket);
  return {
    client: createAdminClient(send),
    async *changes(signal) {
      const { body } = await send(new Request('http://trunkline/api/events', { signal }));
      if (body !== null) yield* readServerSentEvents(body);
    },
  };
}

/** Opens the file in the desktop's text editor, because there is no terminal for `EDITOR`. */
function openEditor(file: string, platform: NodeJS.Platform): Promise<boolean> {
  if (platform === 'darwin') return startDetached('open', ['-t', file]);
  return startDetached(platform === 'win32' ? 'notepad' : 'xdg-open', [file]);
}
