import { describe, expect, test } from 'vitest';

import { Cancellation } from '../core/lib/cancellation.ts';
import { PendingRequests, SerialQueue } from './pending-requests.ts';

test('pending requests: are drained only when every request has been answered', async () => {
  const pending = new PendingRequests();
  pending.add();
  pending.add();
  let isDrained = false;
  const drained = pending.drained().then(() => (isDrained = true));
  pending.remove();
  await Promise.resolve();
  expect(isDrained).toBe(false);
  pending.remove();
  expect(await drained).toBe(true);
  await pending.drained();
});

describe('serial queue', () => {
  /** Enters the queue; records the name once the turn has begun. */
  function enter(queue: SerialQueue, name: string, begun: string[]): ReturnType<SerialQueue['enter']> {
    return queue.enter(new Cancellation()).then((turn) => {
      begun.push(name);
      return turn;
    });
  }

  test('serial queue: starts the next turn when the previous one has ended', async () => {
    const queue = new SerialQueue();
    const begun: string[] = [];
    const [one, two, three] = ['one', 'two', 'three'].map((name) => enter(queue, name, begun));
    const first = await one!;
    await Promise.resolve();
    expect(begun).toEqual(['one']);
    first.end();
    const second = await two!;
    expect(begun).toEqual(['one', 'two']);
    second.end();
    await three;
    expect(begun).toEqual(['one', 'two', 'three']);
  });

  test('serial queue: starts the next turn on release, and the end of the released turn changes nothing', async () => {
    const queue = new SerialQueue();
    const begun: string[] = [];
    const [one, two, three] = ['one', 'two', 'three'].map((name) => enter(queue, name, begun));
    const first = await one!;
    queue.releaseCurrent();
    const second = await two!;
    first.end();
    await Promise.resolve();
    expect(begun).toEqual(['one', 'two']);
    second.end();
    await three;
  });

  test('serial queue: stops waiting when cancelled', async () => {
    const queue = new SerialQueue();
    await queue.enter(new Cancellation());
    const cancellation = new Cancellation();
    const waiting = queue.enter(cancellation);
    cancellation.cancel(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});
