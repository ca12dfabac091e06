import { expect, test } from 'vitest';

import { socketPath } from './socket-path.ts';

const id = 'abc';
const long = `/home/${'x'.repeat(100)}/run`;

test('a socket lies in the folder of what runs', () => {
  const path = socketPath({ platform: 'linux', runDir: '/s/run', runtimeDir: undefined, id });
  expect(path).toBe('/s/run/abc.sock');
});

test("a path that is too long for the system gives way to the system's folder for such things", () => {
  const path = socketPath({ platform: 'linux', runDir: long, runtimeDir: '/run/user/1', id });
  expect(path).toBe('/run/user/1/trunkline/abc.sock');
});

test('without one there is no socket', () => {
  expect(() => socketPath({ platform: 'darwin', runDir: long, runtimeDir: undefined, id })).toThrow(
    expect.objectContaining({ code: 'GATEWAY_UNAVAILABLE' }),
  );
});

test('on Windows it is a named pipe', () => {
  const path = socketPath({ platform: 'win32', runDir: 'C:\\s\\run', runtimeDir: undefined, id });
  expect(path).toBe('\\\\.\\pipe\\trunkline-abc');
});
