import { describe, expect, test } from 'vitest';

import { deferred } from './deferred.ts';
import { Scope } from './scope.ts';

describe('Scope', () => {
  test('closes in reverse order, each before the next', async () => {
    const closed: string[] = [];
    const scope = new Scope();
    const slow = deferred<void>();
    scope.defer(() => void closed.push('first'));
    scope.defer(async () => {
      await slow.promise;
      closed.push('second');
    });
    const resource = { [Symbol.asyncDispose]: () => Promise.resolve(void closed.push('third')) };
    expect(scope.use(resource)).toBe(resource);
    const closing = scope[Symbol.asyncDispose]();
    await Promise.resolve();
    slow.resolve();
    await closing;
    expect(closed).toEqual(['third', 'second', 'first']);
  });

  test('closes everything even if one close fails, and says what failed', async () => {
    const closed: string[] = [];
    const errors: unknown[] = [];
    const scope = new Scope((error) => errors.push(error));
    const problem = new Error('cannot close');
    scope.defer(() => void closed.push('first'));
    scope.defer(() => {
      throw problem;
    });
    scope.defer(() => Promise.reject(problem));
    await scope[Symbol.asyncDispose]();
    expect(closed).toEqual(['first']);
    expect(errors).toEqual([problem, problem]);
  });

  test('closes once, with the same promise for everybody', async () => {
    let closes = 0;
    const scope = new Scope();
    scope.defer(() => void closes++);
    const closing = scope[Symbol.asyncDispose]();
    expect(scope[Symbol.asyncDispose]()).toBe(closing);
    await closing;
    await scope[Symbol.asyncDispose]();
    expect(closes).toBe(1);
  });

  test('closes what comes while it closes, and what comes afterwards', async () => {
    const closed: string[] = [];
    const scope = new Scope();
    const slow = deferred<void>();
    scope.defer(() => slow.promise);
    const closing = scope[Symbol.asyncDispose]();
    scope.defer(() => void closed.push('during'));
    slow.resolve();
    await closing;
    expect(closed).toEqual(['during']);
    scope.defer(() => void closed.push('after'));
    await scope[Symbol.asyncDispose]();
    expect(closed).toEqual(['during', 'after']);
  });
});
