import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../../core/errors.ts';
import type { ActionListener, TrayIcon } from './tray-icon.ts';

interface TrayIconOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  readonly uid: number;
  /** The folder into which the program that draws the icon may be copied, on macOS and Windows. */
  readonly folder: string;
  readonly onAction: ActionListener;
}

/** The maximum wait for a panel. Panels start late after a login. */
const PANEL_TIMEOUT_MS = 5000;

/** Opens an icon with the mechanism of this desktop: a helper program on macOS and Windows, D-Bus elsewhere. */
export async function openTrayIcon(options: TrayIconOptions): Promise<TrayIcon> {
  const { env, platform, uid, pid, folder, onAction } = options;
  if (platform === 'darwin' || platform === 'win32') {
    const { openProgramIcon } = await import('./program/open-program-icon.ts');
    return openProgramIcon({ platform, folder, onAction });
  }
  const busPath = findSessionBus(env);
  if (busPath === undefined)
    throw new GatewayError(
      'DESKTOP_MISSING',
      'There is no desktop session here: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR leads to a session bus. Run the command inside your desktop session. Without a desktop, use: trunkline status or trunkline dashboard',
    );
  const { openStatusNotifier } = await import('./notifier/open-status-notifier.ts');
  return openStatusNotifier({ busPath, uid, pid, onAction, panelTimeoutMs: PANEL_TIMEOUT_MS });
}

/** Returns the socket path of the D-Bus session bus as Node expects it, or undefined if there is no session. */
export function findSessionBus(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const addresses = env['DBUS_SESSION_BUS_ADDRESS'];
  if (addresses !== undefined && addresses !== '') {
    for (const address of addresses.split(';')) {
      const [transport = '', rest = ''] = address.split(/:(.*)/s);
      if (transport !== 'unix') continue;
      const options = new Map(rest.split(',').map((pair) => pair.split(/=(.*)/s, 2) as [string, string]));
      const path = options.get('path');
      if (path !== undefined) return unescapeValue(path);
      const abstract = options.get('abstract');
      // Node marks a socket of the abstract namespace with a leading NUL character.
      if (abstract !== undefined) return `\0${unescapeValue(abstract)}`;
    }
    return undefined;
  }
  const runtimeDir = env['XDG_RUNTIME_DIR'];
  if (runtimeDir === undefined || runtimeDir === '') return undefined;
  const path = join(runtimeDir, 'bus');
  return existsSync(path) ? path : undefined;
}

function unescapeValue(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value; // The value was written without escaping.
  }
}
