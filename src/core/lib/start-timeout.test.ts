import { expect, test } from 'vitest';

import { collectGarbageRepeatedly } from '../../../test/support/collect-garbage.ts';
import { startTimeout } from './start-timeout.ts';

test('timeout: aborts with a TimeoutError, also after a garbage collection', async () => {
  using _garbage = collectGarbageRepeatedly();
  const { signal: other } = new AbortController();
  const reason = new Promise<unknown>((resolve) => {
    const { signal } = startTimeout(200, other);
    signal.addEventListener('abort', () => resolve(signal.reason));
  });
  expect(await reason).toMatchObject({ name: 'TimeoutError' });
});

test('timeout: aborts together with the given signal, with its reason', () => {
  const controller = new AbortController();
  using timeout = startTimeout(60_000, controller.signal);
  controller.abort(new Error('stopped'));
  expect(timeout.signal.reason).toMatchObject({ message: 'stopped' });
});
