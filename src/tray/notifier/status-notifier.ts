import { GatewayError } from '../../model/errors.ts';
import { BusConnection } from './dbus/connection.ts';
import type { Message } from './dbus/message.ts';
import { variant } from './dbus/types.ts';
import type { Value, Variant } from './dbus/types.ts';
import { drawIcon } from '../draw-icon.ts';
import { LOOKS } from '../state.ts';
import type { Look } from '../state.ts';
import type { OnChosen, Shown, TrayIcon } from '../tray-icon.ts';
import { BusMenu } from './bus-menu.ts';

const WATCHER = 'org.kde.StatusNotifierWatcher';
const ITEM = { path: '/StatusNotifierItem', interface: 'org.kde.StatusNotifierItem' } as const;
const MENU = { path: '/MenuBar', interface: 'com.canonical.dbusmenu' } as const;
const PROPERTIES = 'org.freedesktop.DBus.Properties';
/** What panels of usual and of dense screens take. */
const SIZES = [22, 24, 32, 48, 64];
const LOOK_AGAIN_MS = 250;

interface NotifierOptions {
  /** The socket of the session bus. */
  readonly bus: string;
  readonly uid: number;
  readonly pid: number;
  readonly onChosen: OnChosen;
  /** How long a panel may take to come up after us, as it does when somebody logs in. */
  readonly panelWithinMs: number;
}

/** An icon in the panel of a Linux desktop, as `StatusNotifierItem` on its message bus. */
export async function statusNotifier(options: NotifierOptions): Promise<TrayIcon> {
  const bus = await BusConnection.open(options.bus, options.uid).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GatewayError('DESKTOP_MISSING', `The session bus of the desktop cannot be reached: ${reason}`, {
      cause: error,
    });
  });
  try {
    await panelThere(bus, options.panelWithinMs);
    return await registered(bus, options);
  } catch (error) {
    bus[Symbol.dispose]();
    throw error;
  }
}

async function panelThere(bus: BusConnection, withinMs: number): Promise<void> {
  for (const until = Date.now() + withinMs; ;) {
    const [isThere] = await bus.ask('NameHasOwner', { signature: 's', body: [WATCHER] });
    if (isThere === true) return;
    if (Date.now() >= until) break;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  throw new GatewayError(
    'DESKTOP_MISSING',
    'No panel of this desktop shows icons of programs. KDE Plasma, Xfce, Cinnamon, MATE, Budgie and LXQt do; GNOME does with its extension "AppIndicator and KStatusNotifierItem Support". Until then: trunkline status, trunkline dashboard.',
  );
}

async function registered(bus: BusConnection, { onChosen, pid }: NotifierOptions): Promise<TrayIcon> {
  const pixmaps = Object.fromEntries(LOOKS.map((look) => [look, pixmapsOf(look)]));
  const menu = new BusMenu(onChosen);
  let shown: Shown = { look: 'away', title: 'Trunkline', menu: [] };
  const item = (): Properties => itemProperties(shown, pixmaps[shown.look] ?? []);
  bus.serve(ITEM.path, (call) => propertyAnswer(call, item) ?? clickAnswer(call));
  bus.serve(MENU.path, (call) => propertyAnswer(call, () => menu.properties) ?? menu.answer(call));
  const name = `org.kde.StatusNotifierItem-${pid}-1`;
  await bus.ask('RequestName', { signature: 'su', body: [name, 4] });
  const register = (): Promise<unknown> =>
    bus.call(
      { destination: WATCHER, path: '/StatusNotifierWatcher', interface: WATCHER, member: REGISTER },
      { signature: 's', body: [name] },
    );
  const rule = `type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='${WATCHER}'`;
  await bus.ask('AddMatch', { signature: 's', body: [rule] });
  bus.onSignal(({ member, sender, body: [owned, , owner] }) => {
    const isNew = member === 'NameOwnerChanged' && owned === WATCHER && owner !== '';
    // A panel that was started again knows nothing of us; one that refuses shows nothing, which it may.
    if (isNew && sender === 'org.freedesktop.DBus') register().catch(() => {});
  });
  await register();
  return {
    gone: bus.ended.then(() => undefined),
    show(next) {
      const before = shown;
      shown = next;
      if (next.look !== before.look) bus.signal({ ...ITEM, member: 'NewIcon' });
      if (next.title !== before.title)
        for (const member of ['NewTitle', 'NewToolTip']) bus.signal({ ...ITEM, member });
      const layout = menu.replace(next.menu);
      if (layout !== undefined) bus.signal({ ...MENU, member: 'LayoutUpdated' }, layout);
    },
    async [Symbol.asyncDispose]() {
      bus[Symbol.dispose]();
    },
  };
}

const REGISTER = 'RegisterStatusNotifierItem';

type Properties = readonly (readonly [string, Variant])[];

function itemProperties({ title }: Shown, pixmaps: readonly Value[]): Properties {
  const none = variant('a(iiay)', []);
  const empty = variant('s', '');
  return [
    ['Category', variant('s', 'ApplicationStatus')],
    ['Id', variant('s', 'trunkline')],
    ['Title', variant('s', title)],
    // Never the look `NeedsAttention`: panels blink then, which is more than a person asked for.
    ['Status', variant('s', 'Active')],
    ['WindowId', variant('i', 0)],
    ['IconName', empty],
    ['IconPixmap', variant('a(iiay)', pixmaps)],
    ['OverlayIconName', empty],
    ['OverlayIconPixmap', none],
    ['AttentionIconName', empty],
    ['AttentionIconPixmap', none],
    ['AttentionMovieName', empty],
    ['IconThemePath', empty],
    ['IconAccessibleDesc', variant('s', title)],
    ['ToolTip', variant('(sa(iiay)ss)', ['', [], title, ''])],
    ['ItemIsMenu', variant('b', true)],
    ['Menu', variant('o', MENU.path)],
  ];
}

/** Every click opens the menu, which panels do by themselves. */
function clickAnswer({ interface: of, member }: Message): ReturnType<BusMenu['answer']> {
  const isClick = ['Activate', 'SecondaryActivate', 'ContextMenu', 'Scroll'].includes(member ?? '');
  return isClick && (of === undefined || of === ITEM.interface) ? { signature: '', body: [] } : undefined;
}

function propertyAnswer(call: Message, properties: () => Properties): ReturnType<BusMenu['answer']> {
  if (call.interface !== PROPERTIES) return undefined;
  if (call.member === 'GetAll') return { signature: 'a{sv}', body: [properties()] };
  if (call.member !== 'Get') return undefined;
  const found = properties().find(([name]) => name === call.body[1])?.[1];
  return found && { signature: 'v', body: [found] };
}

/** Opacity, red, green, blue, as the protocol wants them. */
function pixmapsOf(look: Look): readonly Value[] {
  return SIZES.map((size) => {
    const { rgba } = drawIcon(look, size);
    const argb = Buffer.alloc(rgba.length);
    for (let at = 0; at < rgba.length; at += 4)
      argb.set([rgba[at + 3] ?? 0, rgba[at] ?? 0, rgba[at + 1] ?? 0, rgba[at + 2] ?? 0], at);
    return [size, size, argb];
  });
}
