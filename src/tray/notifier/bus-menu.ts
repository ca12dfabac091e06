import type { Message } from './dbus/message.ts';
import { variant } from './dbus/types.ts';
import type { Value, Variant } from './dbus/types.ts';
import type { MenuItem, TrayAction } from '../menu.ts';

const INTERFACE = 'com.canonical.dbusmenu';

interface Node {
  readonly id: number;
  readonly properties: readonly (readonly [string, Variant])[];
  readonly children: readonly Node[];
  readonly action: TrayAction | undefined;
}

interface Answer {
  readonly signature: string;
  readonly body: readonly Value[];
}

/** The menu as panels ask for it, `com.canonical.dbusmenu`. Items keep their numbers, so that an open menu stays what it is. */
export class BusMenu {
  readonly #onChosen: (action: TrayAction) => void;
  readonly #nodes = new Map<number, Node>();
  #ids = new Map<string, number>();
  #lastId = 0;
  #revision = 0;
  #text = '';
  #root: Node = { id: 0, properties: [], children: [], action: undefined };

  constructor(onChosen: (action: TrayAction) => void) {
    this.#onChosen = onChosen;
  }

  /** For the signal `LayoutUpdated`; undefined when the menu is what it was. */
  replace(items: readonly MenuItem[]): Answer | undefined {
    const text = JSON.stringify(items);
    if (text === this.#text) return undefined;
    this.#text = text;
    this.#revision++;
    const ids = new Map<string, number>();
    this.#nodes.clear();
    const children = items.map((item) => this.#node(item, '', ids));
    // Numbers of what is gone are forgotten, or they would only grow.
    this.#ids = ids;
    this.#root = { id: 0, properties: shownAsMenu, children, action: undefined };
    this.#nodes.set(0, this.#root);
    return { signature: 'ui', body: [this.#revision, 0] };
  }

  answer({ interface: of, member, body, signature }: Message): Answer | undefined {
    if (of !== undefined && of !== INTERFACE) return undefined;
    switch (`${member}(${signature})`) {
      case 'GetLayout(iias)':
        return this.#layout(Number(body[0]), Number(body[1]));
      case 'GetGroupProperties(aias)':
        return { signature: 'a(ia{sv})', body: [this.#group(body[0] as readonly number[])] };
      case 'GetProperty(is)':
        return this.#property(Number(body[0]), body[1]);
      case 'Event(isvu)':
        this.#event(Number(body[0]), body[1]);
        return { signature: '', body: [] };
      case 'EventGroup(a(isvu))':
        for (const [id, what] of body[0] as readonly (readonly Value[])[]) this.#event(Number(id), what);
        return { signature: 'ai', body: [[]] };
      case 'AboutToShow(i)':
        return { signature: 'b', body: [false] };
      case 'AboutToShowGroup(ai)':
        return { signature: 'aiai', body: [[], []] };
      default:
        return undefined;
    }
  }

  get properties(): readonly (readonly [string, Variant])[] {
    return [
      ['Version', variant('u', 3)],
      ['TextDirection', variant('s', 'ltr')],
      ['Status', variant('s', 'normal')],
      ['IconThemePath', variant('as', [])],
    ];
  }

  #node(item: MenuItem, above: string, ids: Map<string, number>): Node {
    const path = `${above}/${item.key}`;
    const id = this.#ids.get(path) ?? ++this.#lastId;
    ids.set(path, id);
    const node: Node = {
      id,
      properties: propertiesOf(item),
      children: (item.items ?? []).map((each) => this.#node(each, path, ids)),
      action: item.action,
    };
    this.#nodes.set(id, node);
    return node;
  }

  #layout(parent: number, depth: number): Answer | undefined {
    const node = this.#nodes.get(parent) ?? (parent === 0 ? this.#root : undefined);
    return node && { signature: 'u(ia{sv}av)', body: [this.#revision, layoutOf(node, depth)] };
  }

  #group(ids: readonly number[]): readonly Value[] {
    const nodes = ids.length === 0 ? [...this.#nodes.values()] : ids.map((id) => this.#nodes.get(id));
    return nodes.flatMap((node) => (node === undefined ? [] : [[node.id, node.properties]]));
  }

  #property(id: number, name: Value | undefined): Answer | undefined {
    const found = this.#nodes.get(id)?.properties.find(([each]) => each === name)?.[1];
    return found && { signature: 'v', body: [found] };
  }

  #event(id: number, what: Value | undefined): void {
    const action = what === 'clicked' ? this.#nodes.get(id)?.action : undefined;
    if (action !== undefined) this.#onChosen(action);
  }
}

const shownAsMenu = [['children-display', variant('s', 'submenu')]] as const;

function propertiesOf(item: MenuItem): Node['properties'] {
  if (item.label === '') return [['type', variant('s', 'separator')]];
  const isUsable = item.action !== undefined || item.items !== undefined;
  return [
    // An underscore would mark the next letter as a shortcut.
    ['label', variant('s', item.label.replaceAll('_', '__'))],
    ['enabled', variant('b', isUsable)],
    ['visible', variant('b', true)],
    ...(item.isChecked === undefined
      ? []
      : ([
          ['toggle-type', variant('s', 'checkmark')],
          ['toggle-state', variant('i', item.isChecked ? 1 : 0)],
        ] as const)),
    ...(item.items === undefined ? [] : shownAsMenu),
  ];
}

/** A depth below zero means all of it. */
function layoutOf(node: Node, depth: number): readonly Value[] {
  const children = depth === 0 ? [] : node.children;
  const below = children.map((child) => variant('(ia{sv}av)', layoutOf(child, depth - 1)));
  return [node.id, node.properties, below];
}
