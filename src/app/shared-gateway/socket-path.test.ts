import { expect, test } from 'vitest';

import { socketPath } from './socket-path.ts';

const id = 'abc';
const long = `/home/${'x'.repeat(100)}/run`;

test('socket path: lies in the run folder', () => {
  const path = socketPath({ platform: 'linux', runDir: '/s/run', runtimeDir: undefined, id });
  expect(path).toBe('/s/run/abc.sock');
});

test('socket path: uses the runtime folder when the path is too long', () => {
  const path = socketPath({ platform: 'linux', runDir: long, runtimeDir: '/run/user/1', id });
  expect(path).toBe('/run/user/1/trunkline/abc.sock');
});

test('socket path: fails when the path is too long and there is no runtime folder', () => {
  expect(() => socketPath({ platform: 'darwin', runDir: long, runtimeDir: undefined, id })).toThrow(
    expect.objectContaining({ code: 'GATEWAY_UNAVAILABLE' }),
  );
});

test('socket path: is a named pipe on Windows', () => {
  const path = socketPath({ platform: 'win32', runDir: 'C:\\s\\run', runtimeDir: undefined, id });
  expect(path).toBe('\\\\.\\pipe\\trunkline-abc');
});
