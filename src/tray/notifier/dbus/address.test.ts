import { expect, test } from 'vitest';

import { sessionBus } from './address.ts';

test.each([
  ['unix:path=/run/user/1/bus', '/run/user/1/bus'],
  ['unix:path=/tmp/a%20b,guid=00', '/tmp/a b'],
  ['unix:abstract=/tmp/dbus-x,guid=00', '\0/tmp/dbus-x'],
  ['tcp:host=localhost,port=1;unix:path=/second', '/second'],
])('%s leads to its socket', (address, path) => {
  expect(sessionBus({ DBUS_SESSION_BUS_ADDRESS: address })).toBe(path);
});

test.each([
  {},
  { DBUS_SESSION_BUS_ADDRESS: '' },
  { DBUS_SESSION_BUS_ADDRESS: 'tcp:host=localhost,port=1' },
  { XDG_RUNTIME_DIR: '/no/such/folder' },
])('%o is no session', (env) => {
  expect(sessionBus(env)).toBeUndefined();
});
