import { describe, expect, test } from 'vitest';

import { deferred } from './deferred.ts';

describe('deferred', () => {
  test('deferred: settles once, with the first resolve or reject', async () => {
    const good = deferred<number>();
    good.resolve(1);
    good.reject(new Error('too late'));
    await expect(good.promise).resolves.toBe(1);

    const bad = deferred<number>();
    bad.reject(new Error('no'));
    bad.resolve(2);
    await expect(bad.promise).rejects.toThrow('no');
  });
});
