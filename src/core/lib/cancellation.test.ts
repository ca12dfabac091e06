import { describe, expect, test, vi } from 'vitest';

import { Cancellation, rejectOnCancel } from './cancellation.ts';
import { deferred } from './deferred.ts';

const reason = new Error('enough');

describe('Cancellation', () => {
  test('cancellation: calls every listener once, in order, with the first reason', () => {
    const cancellation = new Cancellation();
    const told: string[] = [];
    cancellation.onCancel(({ message }) => told.push(`a ${message}`));
    cancellation.onCancel(({ message }) => told.push(`b ${message}`));
    cancellation.cancel(reason);
    cancellation.cancel(new Error('too late'));
    expect(told).toEqual(['a enough', 'b enough']);
    expect(cancellation.reason).toBe(reason);
  });

  test('cancellation: calls a listener that is added afterwards at once', () => {
    const cancellation = new Cancellation();
    cancellation.cancel(reason);
    const listener = vi.fn();
    cancellation.onCancel(listener);
    expect(listener).toHaveBeenCalledExactlyOnceWith(reason);
  });

  test('cancellation: does not call a removed listener', () => {
    const cancellation = new Cancellation();
    const [gone, stays] = [vi.fn(), vi.fn()];
    cancellation.onCancel(gone);
    cancellation.onCancel(stays);
    cancellation.offCancel(gone);
    cancellation.offCancel(() => {});
    cancellation.cancel(reason);
    expect(gone).not.toHaveBeenCalled();
    expect(stays).toHaveBeenCalledOnce();
  });

  test('cancellation: calls every listener, whatever listeners remove meanwhile', () => {
    const cancellation = new Cancellation();
    const [second, third] = [vi.fn(), vi.fn()];
    const first = vi.fn(() => {
      for (const each of [first, second]) cancellation.offCancel(each);
    });
    for (const each of [first, second, third]) cancellation.onCancel(each);
    cancellation.cancel(reason);
    for (const each of [first, second, third]) expect(each).toHaveBeenCalledExactlyOnceWith(reason);
  });

  test('cancellation: throws its reason from throwIfCancelled', () => {
    const cancellation = new Cancellation();
    cancellation.throwIfCancelled();
    cancellation.cancel(reason);
    expect(() => cancellation.throwIfCancelled()).toThrow(reason);
  });

  test.each(['before', 'after'])(
    'cancellation: provides an AbortSignal with the reason, requested %s it is cancelled',
    (when) => {
      const cancellation = new Cancellation();
      if (when === 'before') expect(cancellation.signal.aborted).toBe(false);
      cancellation.cancel(reason);
      expect(cancellation.signal.aborted).toBe(true);
      expect(cancellation.signal.reason).toBe(reason);
      expect(cancellation.signal).toBe(cancellation.signal);
    },
  );
});

describe('orCancelled', () => {
  test('orCancelled: settles like the promise', async () => {
    const cancellation = new Cancellation();
    await expect(rejectOnCancel(Promise.resolve(1), cancellation)).resolves.toBe(1);
    await expect(rejectOnCancel(Promise.reject(reason), cancellation)).rejects.toBe(reason);
  });

  test('orCancelled: rejects on cancellation while the work continues', async () => {
    const cancellation = new Cancellation();
    const work = deferred<number>();
    const waiting = rejectOnCancel(work.promise, cancellation);
    cancellation.cancel(reason);
    await expect(waiting).rejects.toBe(reason);
    work.resolve(2);
    await expect(work.promise).resolves.toBe(2);
  });

  test('orCancelled: rejects at once when already cancelled and ignores a later failure of the work', async () => {
    const cancellation = new Cancellation();
    cancellation.cancel(reason);
    const work = deferred<number>();
    const waiting = rejectOnCancel(work.promise, cancellation);
    work.reject(new Error('nobody listens'));
    await expect(waiting).rejects.toBe(reason);
  });

  test('orCancelled: removes its listener afterwards', async () => {
    const cancellation = new Cancellation();
    const off = vi.spyOn(cancellation, 'offCancel');
    const on = vi.spyOn(cancellation, 'onCancel');
    await rejectOnCancel(Promise.resolve(), cancellation);
    await vi.waitFor(() => expect(off).toHaveBeenCalledOnce());
    expect(off.mock.calls[0]?.[0]).toBe(on.mock.calls[0]?.[0]);
  });
});
