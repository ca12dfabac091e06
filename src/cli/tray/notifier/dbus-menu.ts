import type { DbusMessage } from './dbus/dbus-message.ts';
import { createVariant } from './dbus/dbus-value.ts';
import type { DbusArguments, DbusValue, DbusVariant } from './dbus/dbus-value.ts';
import type { ActionListener } from '../tray-icon.ts';
import type { MenuItem, TrayAction } from '../tray-menu.ts';

const INTERFACE = 'com.canonical.dbusmenu';

interface MenuNode {
  readonly id: number;
  readonly properties: readonly (readonly [string, DbusVariant])[];
  readonly children: readonly MenuNode[];
  readonly action: TrayAction | undefined;
}

/**
 * Offers the menu to panels over the D-Bus interface `com.canonical.dbusmenu`. Items keep their ids when the menu changes, so that an
 * open menu stays valid.
 */
export class DbusMenu {
  readonly #onAction: ActionListener;
  readonly #nodes = new Map<number, MenuNode>();
  /** The id of each item, by the keys of its parents and its own key, joined with `/`. */
  #ids = new Map<string, number>();
  #lastId = 0;
  #revision = 0;
  #serializedItems = '';
  #root: MenuNode = { id: 0, properties: [], children: [], action: undefined };

  constructor(onAction: ActionListener) {
    this.#onAction = onAction;
  }

  /** Replaces the items. Returns the arguments of the signal `LayoutUpdated`, or undefined if the menu has not changed. */
  replace(items: readonly MenuItem[]): DbusArguments | undefined {
    const serializedItems = JSON.stringify(items);
    if (serializedItems === this.#serializedItems) return undefined;
    this.#serializedItems = serializedItems;
    this.#revision++;
    const ids = new Map<string, number>();
    this.#nodes.clear();
    const children = items.map((item) => this.#createNode(item, '', ids));
    // Replacing the map forgets removed items, so that it does not grow without bound.
    this.#ids = ids;
    this.#root = { id: 0, properties: SUBMENU_PROPERTIES, children, action: undefined };
    this.#nodes.set(0, this.#root);
    return { signature: 'ui', body: [this.#revision, 0] };
  }

  /** Answers a method call. Returns undefined if the interface has no such method or the arguments have other types. */
  handleCall(call: DbusMessage): DbusArguments | undefined {
    const { member, body, signature } = call;
    if (call.interface !== undefined && call.interface !== INTERFACE) return undefined;
    switch (`${member}(${signature})`) {
      case 'GetLayout(iias)':
        return this.#getLayout(Number(body[0]), Number(body[1]));
      case 'GetGroupProperties(aias)':
        return { signature: 'a(ia{sv})', body: [this.#getGroupProperties(body[0] as readonly number[])] };
      case 'GetProperty(is)':
        return this.#getProperty(Number(body[0]), body[1]);
      case 'Event(isvu)':
        this.#onEvent(Number(body[0]), body[1]);
        return { signature: '', body: [] };
      case 'EventGroup(a(isvu))':
        for (const [id, type] of body[0] as readonly (readonly DbusValue[])[])
          this.#onEvent(Number(id), type);
        return { signature: 'ai', body: [[]] };
      case 'AboutToShow(i)':
        return { signature: 'b', body: [false] };
      case 'AboutToShowGroup(ai)':
        return { signature: 'aiai', body: [[], []] };
      default:
        return undefined;
    }
  }

  get properties(): readonly (readonly [string, DbusVariant])[] {
    return [
      ['Version', createVariant('u', 3)],
      ['TextDirection', createVariant('s', 'ltr')],
      ['Status', createVariant('s', 'normal')],
      ['IconThemePath', createVariant('as', [])],
    ];
  }

  #createNode(item: MenuItem, parentPath: string, ids: Map<string, number>): MenuNode {
    const path = `${parentPath}/${item.key}`;
    const id = this.#ids.get(path) ?? ++this.#lastId;
    ids.set(path, id);
    const node: MenuNode = {
      id,
      properties: toNodeProperties(item),
      children: (item.items ?? []).map((child) => this.#createNode(child, path, ids)),
      action: item.action,
    };
    this.#nodes.set(id, node);
    return node;
  }

  #getLayout(parentId: number, depth: number): DbusArguments | undefined {
    const node = this.#nodes.get(parentId) ?? (parentId === 0 ? this.#root : undefined);
    return node && { signature: 'u(ia{sv}av)', body: [this.#revision, toLayout(node, depth)] };
  }

  /** Returns the properties of these items, or of all items if the list is empty. */
  #getGroupProperties(ids: readonly number[]): readonly DbusValue[] {
    const nodes = ids.length === 0 ? [...this.#nodes.values()] : ids.map((id) => this.#nodes.get(id));
    return nodes.flatMap((node) => (node === undefined ? [] : [[node.id, node.properties]]));
  }

  #getProperty(id: number, name: DbusValue | undefined): DbusArguments | undefined {
    const properties = this.#nodes.get(id)?.properties;
    const value = properties?.find(([propertyName]) => propertyName === name)?.[1];
    return value && { signature: 'v', body: [value] };
  }

  #onEvent(id: number, type: DbusValue | undefined): void {
    const action = type === 'clicked' ? this.#nodes.get(id)?.action : undefined;
    if (action !== undefined) this.#onAction(action);
  }
}

const SUBMENU_PROPERTIES = [['children-display', createVariant('s', 'submenu')]] as const;

function toNodeProperties(item: MenuItem): MenuNode['properties'] {
  if (item.label === '') return [['type', createVariant('s', 'separator')]];
  const isEnabled = item.action !== undefined || item.items !== undefined;
  return [
    // A single underscore would mark the next letter as a keyboard shortcut.
    ['label', createVariant('s', item.label.replaceAll('_', '__'))],
    ['enabled', createVariant('b', isEnabled)],
    ['visible', createVariant('b', true)],
    ...(item.isChecked === undefined
      ? []
      : ([
          ['toggle-type', createVariant('s', 'checkmark')],
          ['toggle-state', createVariant('i', item.isChecked ? 1 : 0)],
        ] as const)),
    ...(item.items === undefined ? [] : SUBMENU_PROPERTIES),
  ];
}

/** Returns an item with its descendants down to a depth. A negative depth includes all levels. */
function toLayout(node: MenuNode, depth: number): readonly DbusValue[] {
  const children = depth === 0 ? [] : node.children;
  const childLayouts = children.map((child) => createVariant('(ia{sv}av)', toLayout(child, depth - 1)));
  return [node.id, node.properties, childLayouts];
}
