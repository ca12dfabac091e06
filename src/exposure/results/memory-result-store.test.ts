import { expect, test, vi } from 'vitest';

import { MemoryResultStore } from './memory-result-store.ts';

const options = { keepMs: 1_000, maxBytes: 1_000, maxCount: 10, now: Date.now };

async function keep(store: MemoryResultStore, owner: string, size: number): Promise<string> {
  return (await store.keep(owner, 'x'.repeat(size)))?.id ?? 'none';
}

const stateOf = async (store: MemoryResultStore, owner: string, id: string): Promise<string> =>
  (await store.find(owner, id)).state;

test('memory store: assigns every result a unique random id', async () => {
  using store = new MemoryResultStore({ ...options, maxBytes: 1_000_000, maxCount: 1_000 });
  const ids = await Promise.all(Array.from({ length: 500 }, () => keep(store, 'ada', 100)));
  expect(new Set(ids).size).toBe(500);
  expect(ids.every((id) => /^r_[\w-]{16}$/.test(id))).toBe(true);
});

test('memory store: evicts the least recently read result when full', async () => {
  using store = new MemoryResultStore(options);
  const [first, second, third] = [
    await keep(store, 'ada', 300),
    await keep(store, 'ada', 300),
    await keep(store, 'ada', 300),
  ];
  await store.find('ada', first);
  const fourth = await keep(store, 'ada', 300);
  const states = [first, second, third, fourth].map((id) => stateOf(store, 'ada', id));
  expect(await Promise.all(states)).toEqual(['kept', 'gone', 'kept', 'kept']);
});

test('memory store: evicts from the caller that uses most space', async () => {
  using store = new MemoryResultStore(options);
  const other = await keep(store, 'bob', 300);
  for (let round = 0; round < 20; round += 1) await keep(store, 'ada', 400);
  expect(await stateOf(store, 'bob', other)).toBe('kept');
  const large = await keep(store, 'eve', 600);
  expect(await stateOf(store, 'bob', other)).toBe('kept');
  expect(await stateOf(store, 'eve', large)).toBe('kept');
});

test('memory store: limits the number of results', async () => {
  using store = new MemoryResultStore(options);
  const ids: string[] = [];
  for (let round = 0; round < 30; round += 1) ids.push(await keep(store, 'ada', 1));
  const states = await Promise.all(ids.map((id) => stateOf(store, 'ada', id)));
  expect(states.filter((state) => state === 'kept')).toHaveLength(10);
});

test('memory store: rejects a result larger than its capacity without evicting others', async () => {
  using store = new MemoryResultStore(options);
  const small = await keep(store, 'ada', 10);
  expect(await keep(store, 'ada', 1_001)).toBe('none');
  expect(await stateOf(store, 'ada', small)).toBe('kept');
});

test('memory store: measures size in bytes, not characters', async () => {
  using store = new MemoryResultStore(options);
  expect(await store.keep('ada', '€'.repeat(400))).toBeUndefined();
});

test('memory store: frees expired results without further requests', async () => {
  vi.useFakeTimers();
  try {
    using store = new MemoryResultStore({ ...options, now: () => Date.now() });
    await keep(store, 'ada', 600);
    vi.advanceTimersByTime(1_001);
    expect(vi.getTimerCount()).toBe(0);
    const next = await keep(store, 'bob', 900);
    expect(await stateOf(store, 'bob', next)).toBe('kept');
  } finally {
    vi.useRealTimers();
  }
});
