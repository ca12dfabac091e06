import type { MenuItem, TrayAction } from '../tray-menu.ts';

/** A menu item in the format of the program. */
export interface ProgramMenuItem {
  readonly title: string;
  readonly tooltip: string;
  readonly checked: boolean;
  readonly enabled: boolean;
  readonly hidden: boolean;
  readonly items: readonly ProgramMenuItem[];
  /** The number of the item in the whole tree, starting at 1. */
  readonly __id: number;
}

/** The program draws an item with this title as a separator. */
const SEPARATOR_TITLE = '<SEPARATOR>';

/** Converts the menu to the format of the program. The action of the item with number n is `actions[n - 1]`. */
export function toProgramMenu(menu: readonly MenuItem[]): {
  readonly items: readonly ProgramMenuItem[];
  readonly actions: readonly (TrayAction | undefined)[];
} {
  const actions: (TrayAction | undefined)[] = [];
  const convert = (item: MenuItem): ProgramMenuItem => {
    const id = actions.push(item.action);
    return {
      title: item.label === '' ? SEPARATOR_TITLE : toTitle(item.label),
      tooltip: '',
      checked: item.isChecked === true,
      enabled: item.action !== undefined || item.items !== undefined,
      hidden: false,
      items: (item.items ?? []).map(convert),
      __id: id,
    };
  };
  return { items: menu.map(convert), actions };
}

/** Returns the keys of all items as text. If the texts of two menus are equal, an item number means the same item in both. */
export function serializeMenuKeys(menu: readonly MenuItem[]): string {
  const toKeys = ({ key, items = [] }: MenuItem): readonly unknown[] => [key, ...items.map(toKeys)];
  return JSON.stringify(menu.map(toKeys));
}

/** Returns all items with their descendants, in the order of their numbers. */
export function flattenItems(items: readonly ProgramMenuItem[]): readonly ProgramMenuItem[] {
  return items.flatMap((item) => [item, ...flattenItems(item.items)]);
}

/** Replaces a label that the program would draw as a separator. */
function toTitle(label: string): string {
  return label === SEPARATOR_TITLE ? ' ' : label;
}
