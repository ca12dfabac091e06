import type { AdminClient } from '../../admin/admin-client.ts';
import { GatewayError } from '../../core/errors.ts';
import type { GatewayConnector } from './gateway-monitor.ts';
import type { NonQuitAction } from './tray-menu.ts';

/** Starts programs of the desktop. Every function returns false if no suitable program can be started. */
export interface DesktopLauncher {
  readonly openPage: (url: URL) => Promise<boolean>;
  /** Opens a link that signs in to the dashboard, without showing it to other users of the machine. */
  readonly openDashboardLink: (link: URL) => Promise<boolean>;
  readonly openConfigEditor: () => Promise<boolean>;
}

/** Performs the action that the user chose in the menu. May return a message for the user. Errors have messages for the user, too. */
export async function performAction(
  action: NonQuitAction,
  connect: GatewayConnector,
  launcher: DesktopLauncher,
): Promise<string | undefined> {
  if (action.type === 'edit-config') {
    if (!(await launcher.openConfigEditor()))
      throw new GatewayError('DESKTOP_MISSING', 'No editor can be started here.');
    return undefined;
  }
  const gateway = await connect();
  if (gateway === undefined) throw new GatewayError('GATEWAY_UNAVAILABLE', 'No gateway is running.');
  const { client } = gateway;
  switch (action.type) {
    case 'open-dashboard':
      await openDashboard(client, action.page, launcher);
      break;
    case 'sign-in': {
      const { url } = await client.request('POST /api/servers/:name/sign-in', { name: action.server });
      if (!(await launcher.openPage(new URL(url))))
        throw new GatewayError(
          'DESKTOP_MISSING',
          'No browser can be started here. Set BROWSER to the command of your browser.',
        );
      break;
    }
    case 'set-enabled': {
      const { server: name, isEnabled } = action;
      const { applied } = isEnabled
        ? await client.request('POST /api/servers/:name/enable', { name })
        : await client.request('POST /api/servers/:name/disable', { name });
      return applied.state === 'later' ? applied.reason : undefined;
    }
    case 'decide-call':
      await client.request('POST /api/approve', { call: action.call, decision: action.decision });
      break;
    case 'refresh':
      await client.request('POST /api/refresh', {});
      break;
    case 'pause':
      await client.request('POST /api/pause', {});
      break;
    case 'resume':
      await client.request('POST /api/resume', {});
      break;
  }
  return undefined;
}

/** Opens the page with a link that signs the browser in and works only once. */
async function openDashboard(client: AdminClient, page: string, launcher: DesktopLauncher): Promise<void> {
  const link = new URL((await client.request('POST /api/session/link', {})).url);
  if (page !== '/') link.searchParams.set('to', page);
  if (!(await launcher.openDashboardLink(link)))
    throw new GatewayError('DESKTOP_MISSING', 'No browser can be opened from here. Run: trunkline dashboard');
}
