import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, test } from 'vitest';

import { temporaryFolder } from '../../../test/support/test-run.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import { Sandbox } from './sandbox.ts';

test('sandbox: notifies every waiter when its last script has ended', async () => {
  const file = join(temporaryFolder('sandbox'), 'endless.mjs');
  writeFileSync(file, 'setInterval(() => {}, 1000);');
  await using sandbox = new Sandbox({
    worker: pathToFileURL(file),
    memoryMb: 16,
    maxScripts: 1,
    maxWaiting: 1,
    now: () => performance.now(),
  });
  const options = {
    source: '1',
    names: '{}',
    limits: { timeoutMs: 30_000, cpuMs: 30_000, memoryMb: 16, maxCalls: 1, maxOutput: 1000 },
    call: () => Promise.reject(new Error('The script makes no calls.')),
  };
  const cancellation = new Cancellation();
  const script = sandbox.run(options, { cancellation });
  let notified = 0;
  const waiters = [1, 2].map(() => sandbox.waitUntilIdle().then(() => notified++));
  cancellation.cancel(new Error('Not needed any more.'));
  await expect(script).rejects.toThrow('Not needed any more.');
  await sandbox.waitUntilIdle();
  await new Promise((resolve) => setImmediate(resolve));
  expect(notified).toBe(waiters.length);
});
