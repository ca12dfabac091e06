import { expect, test } from 'vitest';

import { createSnapshot, createHeldCall } from '../gateway-snapshot.test-support.ts';
import { buildMenu } from '../tray-menu.ts';
import type { MenuItem } from '../tray-menu.ts';
import { toProgramMenu, serializeMenuKeys } from './program-menu.ts';

function menuWith(id: string, calls = 5): readonly MenuItem[] {
  const call = { ...createHeldCall({ path: 'a' }), id };
  return buildMenu({
    gateway: createSnapshot({ approvals: { held: [], calls: [call] }, today: { calls, errors: 0 } }),
  });
}

test('program menu: keeps its shape when only labels change', () => {
  expect(serializeMenuKeys(menuWith('c1', 6))).toBe(serializeMenuKeys(menuWith('c1', 5)));
});

test('program menu: changes its shape when another call takes the same position', () => {
  expect(toProgramMenu(menuWith('c2')).items).toEqual(toProgramMenu(menuWith('c1')).items);
  expect(serializeMenuKeys(menuWith('c2'))).not.toBe(serializeMenuKeys(menuWith('c1')));
});
