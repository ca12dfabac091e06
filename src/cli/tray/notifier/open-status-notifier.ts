import { GatewayError } from '../../../core/errors.ts';
import { DbusConnection } from './dbus/dbus-connection.ts';
import type { DbusMessage } from './dbus/dbus-message.ts';
import { createVariant } from './dbus/dbus-value.ts';
import type { DbusArguments, DbusValue, DbusVariant } from './dbus/dbus-value.ts';
import { drawIcon } from '../draw-icon.ts';
import { ICON_STATES } from '../tray-state.ts';
import type { IconState } from '../tray-state.ts';
import type { ActionListener, IconContent, TrayIcon } from '../tray-icon.ts';
import { DbusMenu } from './dbus-menu.ts';

const WATCHER = 'org.kde.StatusNotifierWatcher';
const ITEM = { path: '/StatusNotifierItem', interface: 'org.kde.StatusNotifierItem' } as const;
const MENU = { path: '/MenuBar', interface: 'com.canonical.dbusmenu' } as const;
const PROPERTIES_INTERFACE = 'org.freedesktop.DBus.Properties';
/** The icon sizes that panels use on standard and high-resolution screens. */
const ICON_SIZES = [22, 24, 32, 48, 64];
const POLL_INTERVAL_MS = 250;
/** The flag `DBUS_NAME_FLAG_DO_NOT_QUEUE` of `RequestName`. */
const DO_NOT_QUEUE = 4;

interface StatusNotifierOptions {
  /** The path of the session bus's socket. */
  readonly busPath: string;
  readonly uid: number;
  readonly pid: number;
  readonly onAction: ActionListener;
  /** How long to wait for a panel, which may start after the tray when the user logs in. */
  readonly panelTimeoutMs: number;
}

/** Opens an icon in the panel of a Linux desktop: a `StatusNotifierItem` on the session bus. */
export async function openStatusNotifier(options: StatusNotifierOptions): Promise<TrayIcon> {
  const bus = await DbusConnection.open(options.busPath, options.uid).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GatewayError('DESKTOP_MISSING', `The session bus of the desktop cannot be reached: ${reason}`, {
      cause: error,
    });
  });
  try {
    await waitForPanel(bus, options.panelTimeoutMs);
    return await registerIcon(bus, options);
  } catch (error) {
    bus[Symbol.dispose]();
    throw error;
  }
}

async function waitForPanel(bus: DbusConnection, timeoutMs: number): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; ;) {
    const [hasPanel] = await bus.callBus('NameHasOwner', { signature: 's', body: [WATCHER] });
    if (hasPanel === true) return;
    if (Date.now() >= deadline) break;
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
  throw new GatewayError(
    'DESKTOP_MISSING',
    'No panel of this desktop shows tray icons. KDE Plasma, Xfce, Cinnamon, MATE, Budgie and LXQt do; GNOME does with its extension "AppIndicator and KStatusNotifierItem Support". Until then, use: trunkline status or trunkline dashboard',
  );
}

async function registerIcon(
  bus: DbusConnection,
  { onAction, pid }: StatusNotifierOptions,
): Promise<TrayIcon> {
  const pixmaps = Object.fromEntries(ICON_STATES.map((state) => [state, createPixmaps(state)]));
  const menu = new DbusMenu(onAction);
  let content: IconContent = { state: 'offline', title: 'Trunkline', menu: [] };
  const getItemProperties = (): Properties =>
    createItemProperties(content.title, pixmaps[content.state] ?? []);
  bus.handleCalls(ITEM.path, (call) => handlePropertyCall(call, getItemProperties) ?? handleItemCall(call));
  bus.handleCalls(
    MENU.path,
    (call) => handlePropertyCall(call, () => menu.properties) ?? menu.handleCall(call),
  );
  const name = `org.kde.StatusNotifierItem-${pid}-1`;
  await bus.callBus('RequestName', { signature: 'su', body: [name, DO_NOT_QUEUE] });
  const register = (): Promise<unknown> =>
    bus.call(
      {
        destination: WATCHER,
        path: '/StatusNotifierWatcher',
        interface: WATCHER,
        member: 'RegisterStatusNotifierItem',
      },
      { signature: 's', body: [name] },
    );
  const rule = `type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='${WATCHER}'`;
  await bus.callBus('AddMatch', { signature: 's', body: [rule] });
  bus.onSignal(({ member, sender, body: [changedName, , newOwner] }) => {
    const isNewPanel = member === 'NameOwnerChanged' && changedName === WATCHER && newOwner !== '';
    // A restarted panel does not know the icon yet, so the icon is registered again. If the panel rejects it, no icon is shown.
    if (isNewPanel && sender === 'org.freedesktop.DBus') register().catch(() => {});
  });
  await register();
  return {
    closed: bus.ended.then(() => undefined),
    show(next) {
      const previous = content;
      content = next;
      if (next.state !== previous.state) bus.signal({ ...ITEM, member: 'NewIcon' });
      if (next.title !== previous.title)
        for (const member of ['NewTitle', 'NewToolTip']) bus.signal({ ...ITEM, member });
      const layout = menu.replace(next.menu);
      if (layout !== undefined) bus.signal({ ...MENU, member: 'LayoutUpdated' }, layout);
    },
    async [Symbol.asyncDispose]() {
      bus[Symbol.dispose]();
    },
  };
}

type Properties = readonly (readonly [string, DbusVariant])[];

function createItemProperties(title: string, pixmaps: readonly DbusValue[]): Properties {
  const noPixmap = createVariant('a(iiay)', []);
  const emptyText = createVariant('s', '');
  return [
    ['Category', createVariant('s', 'ApplicationStatus')],
    ['Id', createVariant('s', 'trunkline')],
    ['Title', createVariant('s', title)],
    // The status is never `NeedsAttention`, because it makes panels blink.
    ['Status', createVariant('s', 'Active')],
    ['WindowId', createVariant('i', 0)],
    ['IconName', emptyText],
    ['IconPixmap', createVariant('a(iiay)', pixmaps)],
    ['OverlayIconName', emptyText],
    ['OverlayIconPixmap', noPixmap],
    ['AttentionIconName', emptyText],
    ['AttentionIconPixmap', noPixmap],
    ['AttentionMovieName', emptyText],
    ['IconThemePath', emptyText],
    ['IconAccessibleDesc', createVariant('s', title)],
    ['ToolTip', createVariant('(sa(iiay)ss)', ['', [], title, ''])],
    ['ItemIsMenu', createVariant('b', true)],
    ['Menu', createVariant('o', MENU.path)],
  ];
}

/** Accepts clicks without doing anything, because panels open the menu themselves. */
function handleItemCall(call: DbusMessage): DbusArguments | undefined {
  const isClick = ['Activate', 'SecondaryActivate', 'ContextMenu', 'Scroll'].includes(call.member ?? '');
  const isForItem = call.interface === undefined || call.interface === ITEM.interface;
  return isClick && isForItem ? { signature: '', body: [] } : undefined;
}

/** Answers `Get` and `GetAll` of the properties interface. Returns undefined for other calls and unknown properties. */
function handlePropertyCall(call: DbusMessage, getProperties: () => Properties): DbusArguments | undefined {
  if (call.interface !== PROPERTIES_INTERFACE) return undefined;
  if (call.member === 'GetAll') return { signature: 'a{sv}', body: [getProperties()] };
  if (call.member !== 'Get') return undefined;
  const value = getProperties().find(([name]) => name === call.body[1])?.[1];
  return value && { signature: 'v', body: [value] };
}

/** Draws the icon in all sizes. The protocol orders the bytes of a pixel as opacity, red, green, blue. */
function createPixmaps(state: IconState): readonly DbusValue[] {
  return ICON_SIZES.map((size) => {
    const { rgba } = drawIcon(state, size);
    const argb = Buffer.alloc(rgba.length);
    for (let offset = 0; offset < rgba.length; offset += 4)
      argb.set(
        [rgba[offset + 3] ?? 0, rgba[offset] ?? 0, rgba[offset + 1] ?? 0, rgba[offset + 2] ?? 0],
        offset,
      );
    return [size, size, argb];
  });
}
