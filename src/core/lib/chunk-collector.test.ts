import { randomBytes } from 'node:crypto';

import { expect, test } from 'vitest';

import { ChunkCollector } from './chunk-collector.ts';

test('chunk collector: returns parts of any size in their order, and is empty after that', () => {
  const collector = new ChunkCollector();
  const sizes = [
    1,
    100_000,
    0,
    ...Array<number>(40).fill(3),
    70_000,
    4095,
    4096,
    1,
    ...Array<number>(40).fill(4000),
  ];
  for (let round = 0; round < 2; round++) {
    const parts = sizes.map((size) => randomBytes(size));
    for (const part of parts) collector.add(part);
    const whole = Buffer.concat(parts);
    expect(collector.length).toBe(whole.length);
    expect(collector.take().equals(whole)).toBe(true);
    expect(collector.length).toBe(0);
  }
  expect(collector.take()).toHaveLength(0);
});

test('chunk collector: does not copy a message of one part', () => {
  const collector = new ChunkCollector();
  const part = Buffer.from('message');
  collector.add(part);
  expect(collector.take()).toBe(part);
});
