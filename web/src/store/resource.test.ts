import { expect, test, vi } from 'vitest';

import { createResource } from './resource.ts';

test('resource: combines loads during a running request into one more request', async () => {
  const open: ((value: number) => void)[] = [];
  const { load, value } = createResource(async () => new Promise<number>((resolve) => open.push(resolve)));
  const all = [load(), load(), load()];
  open[0]?.(1);
  await vi.waitFor(() => expect(open).toHaveLength(2));
  open[1]?.(2);
  await Promise.all(all);
  expect(open).toHaveLength(2);
  expect(value.value).toBe(2);
});

test('resource: keeps the last value on failure and exposes the error', async () => {
  let isFailing = false;
  const { load, value, problem } = createResource(async () => {
    if (isFailing) throw new Error('gone');
    return 'old';
  });
  await load();
  isFailing = true;
  await load();
  expect(value.value).toBe('old');
  expect(problem.value?.message).toBe('gone');
});

test('resource: ignores a response that arrives after sign-out', async () => {
  let respond = (_: string): void => {};
  const { load, clear, value } = createResource(
    async () => new Promise<string>((resolve) => (respond = resolve)),
  );
  const loading = load();
  clear();
  respond('secret');
  await loading;
  expect(value.value).toBeUndefined();
});

test('resource: refreshes only after it was loaded once', async () => {
  let requests = 0;
  const { load, refresh } = createResource(async () => (requests += 1));
  refresh();
  expect(requests).toBe(0);
  await load();
  refresh();
  expect(requests).toBe(2);
});
