import { expect, test } from 'vitest';

import { createNetworkMatcher } from './forwarded-provider.ts';

test.each([
  [['10.0.0.0/8'], '10.255.0.1', true],
  [['10.0.0.0/8'], '11.0.0.1', false],
  [['10.0.0.0/8'], '::ffff:10.0.0.1', true],
  [['10.0.0.5'], '10.0.0.5', true],
  [['10.0.0.5'], '10.0.0.50', false],
  [['fd00::/8'], 'fd12::1', true],
  [['fd00::/8'], 'fe80::1', false],
  [['fe80::/10'], 'fe80::1%eth0', true],
  [['::1'], '::1', true],
  [['::1'], '127.0.0.1', false],
  [['0.0.0.0/0'], 'fd00::1', false],
  [['10.0.0.0/8'], undefined, false],
  [['10.0.0.0/8'], 'nonsense', false],
])('trusted networks: %j include %s: %s', (list, address, isOne) => {
  expect(createNetworkMatcher(list)(address)).toBe(isOne);
});
