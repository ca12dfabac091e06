import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { expect, test } from 'vitest';

import { startTimeout } from './start-timeout.ts';

test('timeout: aborts with a TimeoutError, also after a garbage collection', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const { signal: other } = new AbortController();
  const reason = new Promise<unknown>((resolve) => {
    const { signal } = startTimeout(100, other);
    signal.addEventListener('abort', () => resolve(signal.reason));
  });
  // A turn of the event loop has to pass before the garbage of this one can be collected.
  await new Promise(setImmediate);
  collectGarbage();
  expect(await reason).toMatchObject({ name: 'TimeoutError' });
});

test('timeout: aborts together with the given signal, with its reason', () => {
  const controller = new AbortController();
  using timeout = startTimeout(60_000, controller.signal);
  controller.abort(new Error('stopped'));
  expect(timeout.signal.reason).toMatchObject({ message: 'stopped' });
});
