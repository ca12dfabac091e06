import { expect, test, vi } from 'vitest';

import { resource } from './resource.ts';

test('questions while one is under way become one more after it', async () => {
  const open: ((value: number) => void)[] = [];
  const { load, value } = resource(async () => new Promise<number>((resolve) => open.push(resolve)));
  const all = [load(), load(), load()];
  open[0]?.(1);
  await vi.waitFor(() => expect(open).toHaveLength(2));
  open[1]?.(2);
  await Promise.all(all);
  expect(open).toHaveLength(2);
  expect(value.value).toBe(2);
});

test('a failure keeps the last answer and says why', async () => {
  let isGone = false;
  const { load, value, problem } = resource(async () => {
    if (isGone) throw new Error('gone');
    return 'old';
  });
  await load();
  isGone = true;
  await load();
  expect(value.value).toBe('old');
  expect(problem.value?.message).toBe('gone');
});

test('an answer that comes after signing out is not shown', async () => {
  let answer = (_: string): void => {};
  const { load, clear, value } = resource(async () => new Promise<string>((resolve) => (answer = resolve)));
  const loading = load();
  clear();
  answer('secret');
  await loading;
  expect(value.value).toBeUndefined();
});

test('nobody is told again who never asked', async () => {
  let asked = 0;
  const { load, refresh } = resource(async () => (asked += 1));
  refresh();
  expect(asked).toBe(0);
  await load();
  refresh();
  expect(asked).toBe(2);
});
