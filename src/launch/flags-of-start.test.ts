import v8 from 'node:v8';

import { expect, test } from 'vitest';

import { withFlagsOfStart } from './flags-of-start.ts';

const tag = (): number => v8.cachedDataVersionTag();

test('code is made as at a start, whatever a gateway has changed since', () => {
  const atStart = tag();
  expect([withFlagsOfStart(v8, tag), tag()]).toEqual([atStart, atStart]);
  v8.setFlagsFromString('--no-allocation-site-pretenuring');
  try {
    const running = tag();
    expect(running).not.toBe(atStart);
    expect([withFlagsOfStart(v8, tag), tag()]).toEqual([atStart, running]);
    expect(() =>
      withFlagsOfStart(v8, () => {
        throw new Error('odd');
      }),
    ).toThrow('odd');
    expect(tag()).toBe(running);
  } finally {
    v8.setFlagsFromString('--allocation-site-pretenuring');
  }
});
