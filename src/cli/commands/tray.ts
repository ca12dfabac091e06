import { adminClient } from '../../admin/client.ts';
import { eventsIn } from '../../admin/event-reader.ts';
import { readRecord } from '../../attach/gateway-record.ts';
import { socketSend } from '../../attach/socket-send.ts';
import type { ExitCode } from '../../model/errors.ts';
import { openIcon } from '../../tray/open-icon.ts';
import type { Connect, Reached } from '../../tray/gateway-watch.ts';
import { runTray } from '../../tray/tray.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { foundConfig } from '../found-config.ts';
import { openBrowser } from '../open-browser.ts';
import { openPrivately } from '../open-privately.ts';
import { startDetached } from '../start-detached.ts';

/** Also while nothing is told, so that a gateway that comes is soon seen. */
const LOOK_EVERY_MS = 2000;

/** Shows the gateway of this configuration as an icon of the desktop, until the person quits it. */
export async function tray(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  const { env, platform, pid, out } = context;
  const { file, stateDir, places } = await foundConfig(options.config, context);
  const told = new AbortController();
  context.onStopSignal(() => told.abort());
  const reason = await runTray({
    openIcon: (onChosen) =>
      openIcon({ env, platform, pid, uid: process.getuid?.() ?? 0, onChosen, folder: places.stateDir }),
    connect: connector(stateDir),
    openPage: (url) => openBrowser(url, context),
    openPrivately: async (link) => (await openPrivately(link, stateDir, context)) === 'opened',
    edit: () => openEditor(file, platform),
    now: Date.now,
    everyMs: LOOK_EVERY_MS,
    signal: told.signal,
  });
  if (reason === 'desktop-gone') out.note('The desktop has ended, and the icon with it.');
  return 0;
}

/** Looks each time who the gateway is, since it may have been started again; asking it tells whether it is there. */
function connector(stateDir: string): Connect {
  let known: { readonly socket: string; readonly reached: Reached } | undefined;
  return () => {
    const socket = readRecord(stateDir)?.socket;
    if (socket === undefined) return Promise.resolve(undefined);
    if (known?.socket !== socket) known = { socket, reached: reachedAt(socket) };
    return Promise.resolve(known.reached);
  };
}

function reachedAt(socket: string): Reached {
  const send = socketSend(socket);
  return {
    client: adminClient(send),
    async *changes(signal) {
      const { body } = await send(new Request('http://trunkline/api/events', { signal }));
      if (body !== null) yield* eventsIn(body);
    },
  };
}

/** In the program that the desktop opens texts with; one for a terminal would have none here. */
function openEditor(file: string, platform: NodeJS.Platform): Promise<boolean> {
  if (platform === 'darwin') return startDetached('open', ['-t', file]);
  return startDetached(platform === 'win32' ? 'notepad' : 'xdg-open', [file]);
}
