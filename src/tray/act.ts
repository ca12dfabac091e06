import type { AdminClient } from '../admin/client.ts';
import { GatewayError } from '../model/errors.ts';
import type { Connect } from './gateway-watch.ts';
import type { Deed } from './menu.ts';

/** What the tray does besides asking the gateway. */
export interface Desktop {
  /** False where no browser can be started. */
  readonly openPage: (url: URL) => Promise<boolean>;
  /** The same for a link of the dashboard, which nobody else on the machine may see. */
  readonly openPrivately: (link: URL) => Promise<boolean>;
  /** Opens the configuration for editing; false where nothing can. */
  readonly edit: () => Promise<boolean>;
}

/** Does what a person chose, and gives what they should know of it; throws with a sentence for them when it cannot be done. */
export async function act(action: Deed, connect: Connect, desktop: Desktop): Promise<string | undefined> {
  if (action.do === 'edit') {
    if (!(await desktop.edit())) throw new GatewayError('DESKTOP_MISSING', 'No editor can be started here.');
    return undefined;
  }
  const reached = await connect();
  if (reached === undefined) throw new GatewayError('GATEWAY_UNAVAILABLE', 'No gateway is running.');
  const { client } = reached;
  switch (action.do) {
    case 'open':
      await openDashboard(client, action.page, desktop);
      break;
    case 'sign-in': {
      const { url } = await client.ask('POST /api/servers/:name/sign-in', { name: action.server });
      if (!(await desktop.openPage(new URL(url))))
        throw new GatewayError('DESKTOP_MISSING', 'No browser can be started here; set BROWSER to one.');
      break;
    }
    case 'switch': {
      const { server: name, isOn } = action;
      const { applied } = isOn
        ? await client.ask('POST /api/servers/:name/enable', { name })
        : await client.ask('POST /api/servers/:name/disable', { name });
      return applied.state === 'later' ? applied.reason : undefined;
    }
    case 'decide':
      await client.ask('POST /api/approve', { call: action.call, decision: action.decision });
      break;
    case 'refresh':
      await client.ask('POST /api/refresh', {});
      break;
    case 'pause':
      await client.ask('POST /api/pause', {});
      break;
    case 'resume':
      await client.ask('POST /api/resume', {});
      break;
  }
  return undefined;
}

/** With a link that signs this browser in, once. */
async function openDashboard(client: AdminClient, page: string, desktop: Desktop): Promise<void> {
  const link = new URL((await client.ask('POST /api/session/link', {})).url);
  if (page !== '/') link.searchParams.set('to', page);
  if (!(await desktop.openPrivately(link)))
    throw new GatewayError('DESKTOP_MISSING', 'No browser can be opened from here; try: trunkline dashboard');
}
