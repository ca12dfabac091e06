import { expect, test } from 'vitest';

import { omitUndefined } from './omit-undefined.ts';

test('undefined members: are left out, all others and their order stay', () => {
  const kept = omitUndefined({ b: null, a: undefined, d: false, c: '', e: [undefined] });
  expect(JSON.stringify(Object.entries(kept))).toBe('[["b",null],["d",false],["c",""],["e",[null]]]');
});
