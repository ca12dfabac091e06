import { GatewayError } from '../model/errors.ts';
import { sessionBus } from './notifier/dbus/address.ts';
import type { OnChosen, TrayIcon } from './tray-icon.ts';

export interface IconOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  readonly uid: number;
  /** Where the program that draws the icon may be put, on macOS and Windows. */
  readonly folder: string;
  readonly onChosen: OnChosen;
}

/** After a log-in, panels may need a moment. */
const PANEL_WITHIN_MS = 5000;

/** An icon in whatever way this desktop has for it. */
export async function openIcon(options: IconOptions): Promise<TrayIcon> {
  const { env, platform } = options;
  if (platform === 'darwin' || platform === 'win32') {
    const { programIcon } = await import('./program/program-icon.ts');
    return programIcon(options);
  }
  const bus = sessionBus(env);
  if (bus === undefined)
    throw new GatewayError(
      'DESKTOP_MISSING',
      'There is no desktop here: no session bus is named by DBUS_SESSION_BUS_ADDRESS or lies in XDG_RUNTIME_DIR. Start it inside your desktop session; elsewhere there are trunkline status and trunkline dashboard.',
    );
  const { statusNotifier } = await import('./notifier/status-notifier.ts');
  return statusNotifier({ ...options, bus, panelWithinMs: PANEL_WITHIN_MS });
}
