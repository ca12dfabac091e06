import { describe, expect, test } from 'vitest';

import type { DbusMessage } from './dbus/dbus-message.ts';
import type { DbusValue } from './dbus/dbus-value.ts';
import { encodeValues } from './dbus/encode-values.ts';
import type { MenuItem, TrayAction } from '../tray-menu.ts';
import { DbusMenu } from './dbus-menu.ts';

const items: readonly MenuItem[] = [
  { key: 'top', label: 'my_server is well' },
  { key: 'line', label: '' },
  {
    key: 'servers',
    label: 'Servers',
    items: [
      {
        key: 'a',
        label: 'a',
        isChecked: true,
        action: { type: 'set-enabled', server: 'a', isEnabled: false },
      },
    ],
  },
  { key: 'quit', label: 'Quit', action: { type: 'quit' } },
];

function createMenu(): {
  readonly menu: DbusMenu;
  readonly chosen: readonly TrayAction[];
  readonly call: (
    member: string,
    signature: string,
    ...body: readonly DbusValue[]
  ) => readonly DbusValue[] | undefined;
} {
  const chosen: TrayAction[] = [];
  const menu = new DbusMenu((action) => chosen.push(action));
  menu.replace(items);
  const call = (member: string, signature: string, ...body: readonly DbusValue[]) => {
    const message: DbusMessage = {
      kind: 'call',
      serial: 1,
      wantsReply: true,
      path: '/MenuBar',
      interface: 'com.canonical.dbusmenu',
      member,
      signature,
      body,
    };
    const reply = menu.handleCall(message);
    // A reply that does not match its own signature would break the connection.
    if (reply !== undefined) encodeValues(reply.signature, reply.body);
    return reply?.body;
  };
  return { menu, chosen, call };
}

type Layout = readonly [
  number,
  readonly (readonly [string, { value: DbusValue }])[],
  readonly { value: Layout }[],
];

function layout(reply: readonly DbusValue[] | undefined): Layout {
  return reply?.[1] as unknown as Layout;
}

function properties([, pairs]: Layout): Readonly<Record<string, DbusValue>> {
  return Object.fromEntries(pairs.map(([name, { value }]) => [name, value]));
}

describe('D-Bus menu', () => {
  test('D-Bus menu: exports the tree with labels and escapes underscores', () => {
    const [, , children] = layout(createMenu().call('GetLayout', 'iias', 0, -1, []));
    expect(children.map(({ value }) => properties(value))).toEqual([
      { label: 'my__server is well', enabled: false, visible: true },
      { type: 'separator' },
      { label: 'Servers', enabled: true, visible: true, 'children-display': 'submenu' },
      { label: 'Quit', enabled: true, visible: true },
    ]);
    const [inner] = children[2]?.value[2] ?? [];
    expect(inner && properties(inner.value)).toMatchObject({ 'toggle-type': 'checkmark', 'toggle-state': 1 });
  });

  test('D-Bus menu: respects the requested depth', () => {
    const { call } = createMenu();
    const [, , children] = layout(call('GetLayout', 'iias', 0, 1, []));
    expect(children[2]?.value[2]).toEqual([]);
    expect(layout(call('GetLayout', 'iias', 0, 0, []))[2]).toEqual([]);
  });

  test('D-Bus menu: runs the clicked action and ignores other events and items', () => {
    const { call, chosen } = createMenu();
    const [, , children] = layout(call('GetLayout', 'iias', 0, -1, []));
    const quit = children[3]?.value[0] ?? -1;
    const top = children[0]?.value[0] ?? -1;
    const nothing = { signature: 'i', value: 0 };
    call('Event', 'isvu', quit, 'hovered', nothing, 0);
    call('Event', 'isvu', top, 'clicked', nothing, 0);
    call('Event', 'isvu', 999, 'clicked', nothing, 0);
    expect(chosen).toEqual([]);
    call('Event', 'isvu', quit, 'clicked', nothing, 0);
    call('EventGroup', 'a(isvu)', [[quit, 'clicked', nothing, 0]]);
    expect(chosen).toEqual([{ type: 'quit' }, { type: 'quit' }]);
  });

  test('D-Bus menu: announces only real changes and keeps the ids of remaining items', () => {
    const { menu, call } = createMenu();
    const quit = (): number | undefined => layout(call('GetLayout', 'iias', 0, -1, []))[2].at(-1)?.value[0];
    const before = quit();
    expect(menu.replace(structuredClone(items))).toBeUndefined();
    expect(menu.replace(items.slice(2))).toEqual({ signature: 'ui', body: [2, 0] });
    expect(quit()).toBe(before);
  });

  test('D-Bus menu: answers group and single property requests', () => {
    const { call } = createMenu();
    expect(call('GetGroupProperties', 'aias', [], [])?.[0]).toHaveLength(6);
    expect(call('GetProperty', 'is', 1, 'label')).toEqual([{ signature: 's', value: 'my__server is well' }]);
    expect(call('AboutToShow', 'i', 0)).toEqual([false]);
  });

  test.each([
    ['GetLayout', 's', 'x'],
    ['Unheard', '', ''],
    ['GetProperty', 'is', 1],
  ])('D-Bus menu: does not answer the invalid request %s(%s)', (member, signature, first) => {
    expect(createMenu().call(member, signature, first)).toBeUndefined();
  });
});
