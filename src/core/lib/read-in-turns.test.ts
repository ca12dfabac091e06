import { once } from 'node:events';
import { PassThrough } from 'node:stream';

import { expect, test } from 'vitest';

import { readInTurns } from './read-in-turns.ts';

test('read in turns: lets other events in between chunks that take long', async () => {
  const stream = new PassThrough();
  const order: string[] = [];
  const tick = (): void => {
    order.push('other');
    if (order.length < 20) setImmediate(tick);
  };
  setImmediate(tick);
  readInTurns(stream, (chunk) => {
    const until = performance.now() + 6;
    while (performance.now() < until);
    order.push(String(chunk));
  });
  for (const chunk of ['1', '2', '3']) stream.write(chunk);
  stream.end();
  await once(stream, 'end');
  expect(order.filter((entry) => entry !== 'other')).toEqual(['1', '2', '3']);
  expect(order.slice(order.indexOf('1'), order.indexOf('2'))).toContain('other');
  expect(order.slice(order.indexOf('2'), order.indexOf('3'))).toContain('other');
});
