import { describe, expect, test, vi } from 'vitest';

import { Cancellation, orCancelled } from './cancellation.ts';
import { deferred } from './deferred.ts';

const reason = new Error('enough');

describe('Cancellation', () => {
  test('tells every listener once, in order, with the first reason', () => {
    const cancellation = new Cancellation();
    const told: string[] = [];
    cancellation.onCancel(({ message }) => told.push(`a ${message}`));
    cancellation.onCancel(({ message }) => told.push(`b ${message}`));
    cancellation.cancel(reason);
    cancellation.cancel(new Error('too late'));
    expect(told).toEqual(['a enough', 'b enough']);
    expect(cancellation.reason).toBe(reason);
  });

  test('tells a listener that comes afterwards at once', () => {
    const cancellation = new Cancellation();
    cancellation.cancel(reason);
    const listener = vi.fn();
    cancellation.onCancel(listener);
    expect(listener).toHaveBeenCalledExactlyOnceWith(reason);
  });

  test('does not tell a listener that was taken away', () => {
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

  test('lets listeners take each other away while they are told', () => {
    const cancellation = new Cancellation();
    const second = vi.fn();
    cancellation.onCancel(() => cancellation.offCancel(second));
    cancellation.onCancel(second);
    cancellation.cancel(reason);
    expect(cancellation.reason).toBe(reason);
  });

  test('throws its reason where somebody checks', () => {
    const cancellation = new Cancellation();
    cancellation.throwIfCancelled();
    cancellation.cancel(reason);
    expect(() => cancellation.throwIfCancelled()).toThrow(reason);
  });

  test.each(['before', 'after'])('has a signal that was asked for %s and carries the reason', (when) => {
    const cancellation = new Cancellation();
    if (when === 'before') expect(cancellation.signal.aborted).toBe(false);
    cancellation.cancel(reason);
    expect(cancellation.signal.aborted).toBe(true);
    expect(cancellation.signal.reason).toBe(reason);
    expect(cancellation.signal).toBe(cancellation.signal);
  });
});

describe('orCancelled', () => {
  test('gives what the promise gives', async () => {
    const cancellation = new Cancellation();
    await expect(orCancelled(Promise.resolve(1), cancellation)).resolves.toBe(1);
    await expect(orCancelled(Promise.reject(reason), cancellation)).rejects.toBe(reason);
  });

  test('stops waiting when cancelled, and the work goes on', async () => {
    const cancellation = new Cancellation();
    const work = deferred<number>();
    const waiting = orCancelled(work.promise, cancellation);
    cancellation.cancel(reason);
    await expect(waiting).rejects.toBe(reason);
    work.resolve(2);
    await expect(work.promise).resolves.toBe(2);
  });

  test('does not wait at all when cancelled before, and a later failure of the work disturbs nobody', async () => {
    const cancellation = new Cancellation();
    cancellation.cancel(reason);
    const work = deferred<number>();
    const waiting = orCancelled(work.promise, cancellation);
    work.reject(new Error('nobody listens'));
    await expect(waiting).rejects.toBe(reason);
  });

  test('leaves no listener behind', async () => {
    const cancellation = new Cancellation();
    const off = vi.spyOn(cancellation, 'offCancel');
    const on = vi.spyOn(cancellation, 'onCancel');
    await orCancelled(Promise.resolve(), cancellation);
    await vi.waitFor(() => expect(off).toHaveBeenCalledOnce());
    expect(off.mock.calls[0]?.[0]).toBe(on.mock.calls[0]?.[0]);
  });
});
