import { expect, test, vi } from 'vitest';

import { MemoryStore } from './memory-store.ts';

const options = { keepMs: 1_000, maxBytes: 1_000, maxCount: 10, now: Date.now };

async function keep(store: MemoryStore, owner: string, size: number): Promise<string> {
  return (await store.keep(owner, 'x'.repeat(size)))?.id ?? 'none';
}

const stateOf = async (store: MemoryStore, owner: string, id: string): Promise<string> =>
  (await store.find(owner, id)).state;

test('gives every result an id of its own that nobody guesses', async () => {
  using store = new MemoryStore({ ...options, maxBytes: 1_000_000, maxCount: 1_000 });
  const ids = await Promise.all(Array.from({ length: 500 }, () => keep(store, 'ada', 100)));
  expect(new Set(ids).size).toBe(500);
  expect(ids.every((id) => /^r_[\w-]{16}$/.test(id))).toBe(true);
});

test('gives up what was not read for longest when there is too much', async () => {
  using store = new MemoryStore(options);
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

test('takes from whoever has most, so that nobody pushes out what others keep', async () => {
  using store = new MemoryStore(options);
  const other = await keep(store, 'bob', 300);
  for (let round = 0; round < 20; round += 1) await keep(store, 'ada', 400);
  expect(await stateOf(store, 'bob', other)).toBe('kept');
  const large = await keep(store, 'eve', 600);
  expect(await stateOf(store, 'bob', other)).toBe('kept');
  expect(await stateOf(store, 'eve', large)).toBe('kept');
});

test('bounds the number of small results as well', async () => {
  using store = new MemoryStore(options);
  const ids: string[] = [];
  for (let round = 0; round < 30; round += 1) ids.push(await keep(store, 'ada', 1));
  const states = await Promise.all(ids.map((id) => stateOf(store, 'ada', id)));
  expect(states.filter((state) => state === 'kept')).toHaveLength(10);
});

test('does not take what is larger than everything, and gives up nothing for it', async () => {
  using store = new MemoryStore(options);
  const small = await keep(store, 'ada', 10);
  expect(await keep(store, 'ada', 1_001)).toBe('none');
  expect(await stateOf(store, 'ada', small)).toBe('kept');
});

test('counts bytes, not characters', async () => {
  using store = new MemoryStore(options);
  expect(await store.keep('ada', '€'.repeat(400))).toBeUndefined();
});

test('gives memory back in time although nobody asks', async () => {
  vi.useFakeTimers();
  try {
    using store = new MemoryStore({ ...options, now: () => Date.now() });
    await keep(store, 'ada', 600);
    vi.advanceTimersByTime(1_001);
    expect(vi.getTimerCount()).toBe(0);
    const next = await keep(store, 'bob', 900);
    expect(await stateOf(store, 'bob', next)).toBe('kept');
  } finally {
    vi.useRealTimers();
  }
});
