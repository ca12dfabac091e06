import { expect, test } from 'vitest';

import { findSessionBus } from './open-tray-icon.ts';

test.each([
  ['unix:path=/run/user/1/bus', '/run/user/1/bus'],
  ['unix:path=/tmp/a%20b,guid=00', '/tmp/a b'],
  ['unix:abstract=/tmp/dbus-x,guid=00', '\0/tmp/dbus-x'],
  ['tcp:host=localhost,port=1;unix:path=/second', '/second'],
])('D-Bus address: resolves %s to its socket', (address, path) => {
  expect(findSessionBus({ DBUS_SESSION_BUS_ADDRESS: address })).toBe(path);
});

test.each([
  {},
  { DBUS_SESSION_BUS_ADDRESS: '' },
  { DBUS_SESSION_BUS_ADDRESS: 'tcp:host=localhost,port=1' },
  { XDG_RUNTIME_DIR: '/no/such/folder' },
])('D-Bus address: is undefined without a usable session bus: %o', (env) => {
  expect(findSessionBus(env)).toBeUndefined();
});
