import { describe, expect, test } from 'vitest';

import { Cancellation } from '../../lib/cancellation.ts';
import { deferred } from '../../lib/deferred.ts';
import { Turns } from './turns.ts';

describe('turns', () => {
  test('let one begin when the one before has ended, well or not', async () => {
    const turns = new Turns();
    const first = deferred<string>();
    const begun: string[] = [];
    const work = (name: string, end: () => Promise<string>) => () => {
      begun.push(name);
      return end();
    };
    const one = turns.run(
      work('one', () => first.promise),
      new Cancellation(),
    );
    const two = turns.run(
      work('two', () => Promise.reject(new Error('broken'))),
      new Cancellation(),
    );
    const three = turns.run(
      work('three', () => Promise.resolve('3')),
      new Cancellation(),
    );
    const failure = two.catch((error: unknown) => String(error));
    expect(begun).toEqual(['one']);
    first.resolve('1');
    expect(await one).toBe('1');
    expect(await failure).toBe('Error: broken');
    expect(await three).toBe('3');
    expect(begun).toEqual(['one', 'two', 'three']);
  });

  test('are given up by release, and the outcome still reaches its caller', async () => {
    const turns = new Turns();
    const first = deferred<string>();
    const one = turns.run(() => first.promise, new Cancellation());
    const two = turns.run(() => Promise.resolve('2'), new Cancellation());
    turns.release();
    expect(await two).toBe('2');
    first.resolve('1');
    expect(await one).toBe('1');
  });

  test('are not waited for by what is cancelled', async () => {
    const turns = new Turns();
    void turns.run(() => new Promise(() => {}), new Cancellation());
    const cancellation = new Cancellation();
    const waiting = turns.run(() => Promise.resolve(), cancellation);
    cancellation.cancel(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});
