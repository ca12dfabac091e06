import { expect, test } from 'vitest';

import { facts, waitingCall } from '../facts.test-support.ts';
import { menuOf } from '../menu.ts';
import type { MenuItem } from '../menu.ts';
import { programMenu, shapeOf } from './program-menu.ts';

function menuWith(id: string, calls = 5): readonly MenuItem[] {
  const call = { ...waitingCall({ path: 'a' }), id };
  return menuOf({
    gateway: facts({ approvals: { held: [], calls: [call] }, today: { calls, errors: 0 } }),
  });
}

test('a menu that says something else of the same things has the same shape', () => {
  expect(shapeOf(menuWith('c1', 6))).toBe(shapeOf(menuWith('c1', 5)));
});

test('a menu with another call at the same place has another shape', () => {
  expect(programMenu(menuWith('c2')).items).toEqual(programMenu(menuWith('c1')).items);
  expect(shapeOf(menuWith('c2'))).not.toBe(shapeOf(menuWith('c1')));
});
