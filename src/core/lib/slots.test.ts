import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { Cancellation } from './cancellation.ts';
import { Slots } from './slots.ts';

describe('Slots', () => {
  test('slots: admits up to the limit without waiting', () => {
    const slots = new Slots({ width: 2, maxWaiting: 1 });
    expect([slots.tryEnter(), slots.tryEnter(), slots.tryEnter()]).toEqual([true, true, false]);
    slots.leave();
    expect(slots.tryEnter()).toBe(true);
  });

  test('slots: admits waiters one by one, in order', async () => {
    const slots = new Slots({ width: 1, maxWaiting: 10 });
    slots.tryEnter();
    const entered: string[] = [];
    const waiting = ['a', 'b'].map((name) =>
      slots.enter(new Cancellation()).then(() => void entered.push(name)),
    );
    slots.leave();
    await waiting[0];
    expect(entered).toEqual(['a']);
    expect(slots.tryEnter()).toBe(false);
    slots.leave();
    await waiting[1];
    expect(entered).toEqual(['a', 'b']);
  });

  test('slots: reports a full queue', () => {
    const slots = new Slots({ width: 1, maxWaiting: 1 });
    slots.tryEnter();
    expect(slots.isFull).toBe(false);
    void slots.enter(new Cancellation());
    expect(slots.isFull).toBe(true);
  });

  test('slots: rejects a cancelled waiter with the reason and frees its place in the queue', async () => {
    const slots = new Slots({ width: 1, maxWaiting: 1 });
    slots.tryEnter();
    const reason = new Error('no more');
    const cancellation = new Cancellation();
    const waiting = slots.enter(cancellation);
    cancellation.cancel(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(slots.isFull).toBe(false);
    slots.leave();
    expect(slots.tryEnter()).toBe(true);
  });

  test('slots: rejects a caller that is already cancelled without queueing it', async () => {
    const slots = new Slots({ width: 1, maxWaiting: 1 });
    slots.tryEnter();
    const cancellation = new Cancellation();
    cancellation.cancel(new Error('before'));
    await expect(slots.enter(cancellation)).rejects.toThrow('before');
    expect(slots.isFull).toBe(false);
  });

  test('slots: never loses or duplicates a slot in any sequence of operations', async () => {
    const steps = fc.array(fc.constantFrom('enter', 'leave', 'cancel-first', 'cancel-last'), {
      maxLength: 50,
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), steps, async (width, history) => {
        const slots = new Slots({ width, maxWaiting: 100 });
        let inside = 0;
        const waiting: Cancellation[] = [];
        for (const step of history) {
          if (step === 'enter' && slots.tryEnter()) inside++;
          else if (step === 'enter') {
            const cancellation = new Cancellation();
            waiting.push(cancellation);
            slots.enter(cancellation).then(
              () => {
                inside++;
                waiting.splice(waiting.indexOf(cancellation), 1);
              },
              () => {},
            );
          } else if (step === 'leave' && inside > 0) {
            inside--;
            slots.leave();
          } else if (step !== 'leave') {
            (step === 'cancel-first' ? waiting.shift() : waiting.pop())?.cancel(new Error('given up'));
          }
          await Promise.resolve();
          await Promise.resolve();
          expect(inside).toBeLessThanOrEqual(width);
          expect(waiting.length > 0 ? inside : width).toBe(width);
        }
        for (; inside > 0 || waiting.length > 0; await Promise.resolve()) {
          if (inside === 0) continue;
          inside--;
          slots.leave();
        }
        expect(Array.from({ length: width + 1 }, () => slots.tryEnter())).toEqual([
          ...Array.from({ length: width }, () => true),
          false,
        ]);
      }),
    );
  });
});

test('slots: shrinks as holders leave and admits waiters when it grows', async () => {
  const slots = new Slots({ width: 2, maxWaiting: 5 });
  expect([slots.tryEnter(), slots.tryEnter()]).toEqual([true, true]);
  slots.resize(1);
  let hasEntered = false;
  const third = slots.enter(new Cancellation()).then(() => (hasEntered = true));
  slots.leave();
  await Promise.resolve();
  expect([hasEntered, slots.inUse, slots.waiting]).toEqual([false, 1, 1]);
  slots.leave();
  await third;
  expect([slots.inUse, slots.waiting]).toEqual([1, 0]);
  const fourth = slots.enter(new Cancellation());
  slots.resize(3);
  await fourth;
  expect([slots.inUse, slots.tryEnter(), slots.tryEnter()]).toEqual([2, true, false]);
  slots.resize(0);
  for (let at = 0; at < 3; at++) slots.leave();
  expect([slots.inUse, slots.tryEnter()]).toEqual([0, false]);
});
