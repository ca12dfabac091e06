import { spawn } from 'node:child_process';

import { afterEach, describe, expect, test } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { watchActivity } from './watch-activity.ts';

const groups: number[] = [];
const watches: Disposable[] = [];
afterEach(() => {
  for (const watch of watches.splice(0)) watch[Symbol.dispose]();
  for (const group of groups.splice(0)) process.kill(-group, 'SIGKILL');
});

/** Runs a shell script in a process group of its own and counts the readings and those with activity. */
function watch(script: string, platform: NodeJS.Platform = process.platform) {
  const child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  groups.push(child.pid!);
  const counts = { active: 0 };
  const start = (): void =>
    void watches.push(
      watchActivity(child.pid!, { everyMs: 50, platform, onActivity: () => counts.active++ }),
    );
  return { counts, start, stdout: child.stdout };
}

describe.runIf(process.platform === 'linux')('activity on Linux', () => {
  test.each([
    ['uses the CPU', 'while :; do :; done'],
    ['reads and writes files', 'while head -c 5000 /dev/zero >/dev/null; do sleep 0.02; done'],
    ['starts processes', 'while sleep 0.02; do :; done'],
  ])('activity: is seen when a process %s', async (_, script) => {
    const { counts, start } = watch(script);
    start();
    await eventually(() => expect(counts.active).toBeGreaterThanOrEqual(3));
  });

  test('activity: is not seen in a process that only waits', async () => {
    const { counts, start, stdout } = watch('echo ready; exec sleep 300');
    await new Promise((resolve) => stdout.once('data', resolve));
    // The busy process shows how many readings there were.
    const busy = watch('while :; do :; done');
    // Skips the end of the start of the process.
    busy.start();
    await eventually(() => busy.counts.active >= 2);
    start();
    const { active } = busy.counts;
    await eventually(() => busy.counts.active >= active + 8);
    expect(counts.active).toBe(0);
  });
});

test.skipIf(process.platform === 'win32')('activity: is assumed where it cannot be read', async () => {
  const { counts, start } = watch('exec sleep 300', 'darwin');
  start();
  await eventually(() => expect(counts.active).toBeGreaterThanOrEqual(2));
});
