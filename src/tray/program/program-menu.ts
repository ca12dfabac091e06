import type { MenuItem, TrayAction } from '../menu.ts';

/** An item as the program wants it. */
export interface ProgramItem {
  readonly title: string;
  readonly tooltip: string;
  readonly checked: boolean;
  readonly enabled: boolean;
  readonly hidden: boolean;
  readonly items: readonly ProgramItem[];
  /** From 1 on, through the whole tree. */
  readonly __id: number;
}

/** A title that the program draws as a line. */
const LINE = '<SEPARATOR>';

/** The menu for the program, and the action of each number, from 1 on. */
export function programMenu(menu: readonly MenuItem[]): {
  readonly items: readonly ProgramItem[];
  readonly actions: readonly (TrayAction | undefined)[];
} {
  const actions: (TrayAction | undefined)[] = [];
  const made = (item: MenuItem): ProgramItem => {
    const id = actions.push(item.action);
    return {
      // A mark of the program's own, should a label ever be the same.
      title: item.label === '' ? LINE : titleOf(item),
      tooltip: '',
      checked: item.isChecked === true,
      enabled: item.action !== undefined || item.items !== undefined,
      hidden: false,
      items: (item.items ?? []).map(made),
      __id: id,
    };
  };
  return { items: menu.map(made), actions };
}

/** Two menus of the same shape have the same things at the same places, and differ in what is said of them; so a number means one thing in both. */
export function shapeOf(menu: readonly MenuItem[]): string {
  const keys = ({ key, items = [] }: MenuItem): readonly unknown[] => [key, ...items.map(keys)];
  return JSON.stringify(menu.map(keys));
}

export function flatItems(items: readonly ProgramItem[]): readonly ProgramItem[] {
  return items.flatMap((item) => [item, ...flatItems(item.items)]);
}

/** Not every desktop shows its check marks, so being off is said in words as well, by the labels themselves. */
function titleOf({ label }: MenuItem): string {
  return label === LINE ? ' ' : label;
}
