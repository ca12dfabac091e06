import { describe, expect, test } from 'vitest';

import { deferred } from './deferred.ts';
import { Scope } from './scope.ts';

describe('Scope', () => {
  test('scope: closes resources in reverse order, one after the other', async () => {
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

  test('scope: closes all resources when one fails, and reports the errors', async () => {
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

  test('scope: closes once and returns the same promise to all callers', async () => {
    let closes = 0;
    const scope = new Scope();
    scope.defer(() => void closes++);
    const closing = scope[Symbol.asyncDispose]();
    expect(scope[Symbol.asyncDispose]()).toBe(closing);
    await closing;
    await scope[Symbol.asyncDispose]();
    expect(closes).toBe(1);
  });

  test('scope: closes resources that are added during or after closing', async () => {
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
