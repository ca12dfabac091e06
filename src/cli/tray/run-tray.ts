import { performAction } from './perform-action.ts';
import type { DesktopLauncher } from './perform-action.ts';
import { GatewayMonitor } from './gateway-monitor.ts';
import type { GatewayConnector } from './gateway-monitor.ts';
import { buildMenu } from './tray-menu.ts';
import type { NonQuitAction } from './tray-menu.ts';
import { formatHeadline, selectIconState } from './tray-state.ts';
import type { GatewaySnapshot, TrayState } from './tray-state.ts';
import type { ActionListener, TrayIcon } from './tray-icon.ts';

interface TrayOptions extends DesktopLauncher {
  readonly openIcon: (onAction: ActionListener) => Promise<TrayIcon>;
  readonly connect: GatewayConnector;
  readonly now: () => number;
  readonly pollIntervalMs: number;
  /** Aborted when the process receives a stop signal. */
  readonly signal: AbortSignal;
}

type ExitReason = 'quit' | 'desktop-gone' | 'stop-signal';

/** Shows the icon until the user quits it, the desktop session ends or the process is stopped. Returns which of these happened. */
export async function runTray(options: TrayOptions): Promise<ExitReason> {
  const exit = new AbortController();
  const exitWith = (reason: ExitReason): void => exit.abort(reason);
  let state: TrayState = { gateway: undefined };
  const opening = options.openIcon((action) => {
    if (action.type === 'quit') exitWith('quit');
    else void perform(action);
  });
  const icon = await unlessAborted(opening, options.signal);
  if (icon === undefined) return 'stop-signal';
  const monitor = new GatewayMonitor({
    connect: options.connect,
    now: options.now,
    pollIntervalMs: options.pollIntervalMs,
    signal: exit.signal,
    onSnapshot,
  });
  try {
    show({});
    options.signal.addEventListener('abort', () => exitWith('stop-signal'), { once: true });
    void icon.closed.then(() => exitWith('desktop-gone'));
    await monitor.run();
  } finally {
    await icon[Symbol.asyncDispose]();
  }
  // Only `exitWith` aborts the controller.
  return exit.signal.reason as ExitReason;

  function onSnapshot(gateway: GatewaySnapshot | undefined): void {
    // A notice about the last action is outdated when the gateway has stopped.
    const hasStopped = gateway === undefined && state.gateway !== undefined;
    show({ gateway, notice: hasStopped ? undefined : state.notice });
  }

  function show(changes: Partial<TrayState>): void {
    state = { ...state, ...changes };
    icon?.show({ state: selectIconState(state), title: formatHeadline(state), menu: buildMenu(state) });
  }

  async function perform(action: NonQuitAction): Promise<void> {
    const progress = action.type === 'refresh' ? 'Asking all servers for their tools…' : undefined;
    show({ notice: progress });
    try {
      const notice = await performAction(action, options.connect, options);
      // Another action may have replaced the notice in the meantime.
      if (state.notice === progress) show({ notice });
    } catch (error) {
      show({ notice: error instanceof Error ? error.message : String(error) });
    }
    monitor.requestPoll();
  }
}

/** Returns undefined if the signal is aborted before the icon is open. An icon that opens later is closed at once. */
async function unlessAborted(opening: Promise<TrayIcon>, signal: AbortSignal): Promise<TrayIcon | undefined> {
  const aborted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const icon = await Promise.race([opening, aborted]);
  // Errors are ignored, because the process is about to exit.
  if (icon === undefined) opening.then((late) => late[Symbol.asyncDispose]()).catch(() => {});
  return icon;
}
