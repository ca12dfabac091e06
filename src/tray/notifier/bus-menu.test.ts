import { describe, expect, test } from 'vitest';

import type { Message } from './dbus/message.ts';
import type { Value } from './dbus/types.ts';
import { encode } from './dbus/encode.ts';
import type { MenuItem, TrayAction } from '../menu.ts';
import { BusMenu } from './bus-menu.ts';

const items: readonly MenuItem[] = [
  { key: 'top', label: 'my_server is well' },
  { key: 'line', label: '' },
  {
    key: 'servers',
    label: 'Servers',
    items: [{ key: 'a', label: 'a', isChecked: true, action: { do: 'switch', server: 'a', isOn: false } }],
  },
  { key: 'quit', label: 'Quit', action: { do: 'quit' } },
];

function opened(): {
  readonly menu: BusMenu;
  readonly chosen: readonly TrayAction[];
  readonly ask: (
    member: string,
    signature: string,
    ...body: readonly Value[]
  ) => readonly Value[] | undefined;
} {
  const chosen: TrayAction[] = [];
  const menu = new BusMenu((action) => chosen.push(action));
  menu.replace(items);
  const ask = (member: string, signature: string, ...body: readonly Value[]) => {
    const call: Message = {
      ...{ kind: 'call', serial: 1, wantsReply: true, path: '/MenuBar' },
      ...{ interface: 'com.canonical.dbusmenu', member, signature, body },
    };
    const answer = menu.answer(call);
    // What cannot be encoded with its own signature would break the connection.
    if (answer !== undefined) encode(answer.signature, answer.body);
    return answer?.body;
  };
  return { menu, chosen, ask };
}

type Layout = readonly [
  number,
  readonly (readonly [string, { value: Value }])[],
  readonly { value: Layout }[],
];

function layout(answer: readonly Value[] | undefined): Layout {
  return answer?.[1] as unknown as Layout;
}

function properties([, pairs]: Layout): Readonly<Record<string, Value>> {
  return Object.fromEntries(pairs.map(([name, { value }]) => [name, value]));
}

describe('a menu on the bus', () => {
  test('is the tree with its labels, in which an underscore is one', () => {
    const [, , children] = layout(opened().ask('GetLayout', 'iias', 0, -1, []));
    expect(children.map(({ value }) => properties(value))).toEqual([
      { label: 'my__server is well', enabled: false, visible: true },
      { type: 'separator' },
      { label: 'Servers', enabled: true, visible: true, 'children-display': 'submenu' },
      { label: 'Quit', enabled: true, visible: true },
    ]);
    const [inner] = children[2]?.value[2] ?? [];
    expect(inner && properties(inner.value)).toMatchObject({ 'toggle-type': 'checkmark', 'toggle-state': 1 });
  });

  test('is given to the depth that was asked for', () => {
    const { ask } = opened();
    const [, , children] = layout(ask('GetLayout', 'iias', 0, 1, []));
    expect(children[2]?.value[2]).toEqual([]);
    expect(layout(ask('GetLayout', 'iias', 0, 0, []))[2]).toEqual([]);
  });

  test('does what was clicked, and nothing for other events or items', () => {
    const { ask, chosen } = opened();
    const [, , children] = layout(ask('GetLayout', 'iias', 0, -1, []));
    const quit = children[3]?.value[0] ?? -1;
    const top = children[0]?.value[0] ?? -1;
    const nothing = { signature: 'i', value: 0 };
    ask('Event', 'isvu', quit, 'hovered', nothing, 0);
    ask('Event', 'isvu', top, 'clicked', nothing, 0);
    ask('Event', 'isvu', 999, 'clicked', nothing, 0);
    expect(chosen).toEqual([]);
    ask('Event', 'isvu', quit, 'clicked', nothing, 0);
    ask('EventGroup', 'a(isvu)', [[quit, 'clicked', nothing, 0]]);
    expect(chosen).toEqual([{ do: 'quit' }, { do: 'quit' }]);
  });

  test('says that it changed only when it did, and keeps the numbers of what stays', () => {
    const { menu, ask } = opened();
    const quit = (): number | undefined => layout(ask('GetLayout', 'iias', 0, -1, []))[2].at(-1)?.value[0];
    const before = quit();
    expect(menu.replace(structuredClone(items))).toBeUndefined();
    expect(menu.replace(items.slice(2))).toEqual({ signature: 'ui', body: [2, 0] });
    expect(quit()).toBe(before);
  });

  test('answers for all items and for single properties', () => {
    const { ask } = opened();
    expect(ask('GetGroupProperties', 'aias', [], [])?.[0]).toHaveLength(6);
    expect(ask('GetProperty', 'is', 1, 'label')).toEqual([{ signature: 's', value: 'my__server is well' }]);
    expect(ask('AboutToShow', 'i', 0)).toEqual([false]);
  });

  test.each([
    ['GetLayout', 's', 'x'],
    ['Unheard', '', ''],
    ['GetProperty', 'is', 1],
  ])('does not answer %s(%s)', (member, signature, first) => {
    expect(opened().ask(member, signature, first)).toBeUndefined();
  });
});
