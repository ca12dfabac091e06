import { expect, test } from 'vitest';

import { Cancellation } from '../../core/lib/cancellation.ts';
import { deferred } from '../../core/lib/deferred.ts';
import { InstallQueue } from './install-queue.ts';
import type { LeaveInstallQueue } from './install-queue.ts';

const gone = Promise.resolve();

/** Enters servers into one queue and records which of them may run, in order. */
class Starts {
  readonly queue = new InstallQueue();
  readonly running: string[] = [];
  readonly #leave = new Map<string, LeaveInstallQueue>();

  enter(
    server: string,
    { packageKey = server, isFirstStart = true, cancellation = new Cancellation() } = {},
  ) {
    return this.queue.enter(packageKey, { isFirstStart, cancellation }).then((leave) => {
      this.running.push(server);
      this.#leave.set(server, leave);
    });
  }

  async leave(server: string, until = gone): Promise<void> {
    this.#leave.get(server)?.(until);
    await settle();
  }
}

function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

test('install queue: lets three servers install at a time, in the order in which they came', async () => {
  const starts = new Starts();
  for (const server of ['a', 'b', 'c', 'd', 'e']) void starts.enter(server);
  await settle();
  expect(starts.running).toEqual(['a', 'b', 'c']);
  await starts.leave('b');
  expect(starts.running).toEqual(['a', 'b', 'c', 'd']);
  await starts.leave('a');
  expect(starts.running).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('install queue: a server that was listed before waits for no slot', async () => {
  const starts = new Starts();
  for (const server of ['a', 'b', 'c']) void starts.enter(server);
  await starts.enter('known', { isFirstStart: false });
  expect(starts.running).toContain('known');
});

test('install queue: two servers do not install the same package at the same time', async () => {
  const starts = new Starts();
  void starts.enter('a', { packageKey: 'p' });
  void starts.enter('b', { packageKey: 'p' });
  void starts.enter('known', { packageKey: 'p', isFirstStart: false });
  await settle();
  expect(starts.running).toEqual(['a']);
  await starts.leave('a');
  expect(starts.running).toEqual(['a', 'b']);
  await starts.leave('b');
  expect(starts.running).toEqual(['a', 'b', 'known']);
});

test.each([true, false])(
  'install queue: waits for an installer of the package that was left running (first start: %j)',
  async (isFirstStart) => {
    const starts = new Starts();
    const installer = deferred<void>();
    await starts.enter('a', { packageKey: 'p', isFirstStart });
    await starts.leave('a', installer.promise);
    void starts.enter('again', { packageKey: 'p', isFirstStart });
    // The slot is free again, so that the installer holds up no other package.
    for (const server of ['b', 'c']) await starts.enter(server);
    expect(starts.running).toEqual(['a', 'b', 'c']);
    installer.resolve();
    await settle();
    expect(starts.running).toEqual(['a', 'b', 'c', 'again']);
  },
);

test('install queue: a cancelled server gives up its place', async () => {
  const starts = new Starts();
  const cancellation = new Cancellation();
  for (const server of ['a', 'b', 'c']) void starts.enter(server);
  const cancelled = starts.enter('d', { cancellation });
  const samePackage = starts.enter('e', { packageKey: 'a', cancellation });
  void starts.enter('f');
  await settle();
  cancellation.cancel(new Error('stopping'));
  await expect(cancelled).rejects.toThrow('stopping');
  await expect(samePackage).rejects.toThrow('stopping');
  await starts.leave('a');
  expect(starts.running).toEqual(['a', 'b', 'c', 'f']);
});
