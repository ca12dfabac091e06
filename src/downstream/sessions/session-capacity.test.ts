import { expect, test } from 'vitest';

import { silentLogger } from '../../observability/log.ts';
import { Evictions } from './session-capacity.ts';
import type { Session } from './session.ts';

interface Known {
  id: string;
  usedAt: number;
  isBusy: boolean;
}

function served(...known: readonly Known[]): Map<string, Session> {
  return new Map(known.map((session) => [session.id, session as unknown as Session])); // Only these members are read.
}

test('eviction: removes the longest idle session and logs at intervals', () => {
  const said: unknown[] = [];
  const log = { ...silentLogger, info: (_: string, fields?: unknown) => void said.push(fields) };
  let time = 0;
  const options = { log, now: () => time, maxSessions: 3 };
  const [busy, idle, newer] = [
    { id: 'busy', usedAt: 1, isBusy: true },
    { id: 'idle', usedAt: 2, isBusy: false },
    { id: 'newer', usedAt: 3, isBusy: false },
  ];
  const evictions = new Evictions();
  expect(evictions.next(served(newer, busy, idle), options)).toBe(idle);
  expect(new Evictions().next(served(busy), options)).toBeUndefined();
  expect(evictions.next(served(busy, newer), options)).toBe(newer);
  expect(evictions.nextOf([busy, newer, idle] as unknown as readonly Session[], options)).toBe(idle);
  expect(said).toEqual([{ maxSessions: 3, count: 1 }]);
  time = 10_000;
  evictions.next(served(idle), options);
  expect(said).toEqual([
    { maxSessions: 3, count: 1 },
    { maxSessions: 3, count: 3 },
  ]);
});

test('eviction: skips sessions that were used or ended since they were found idle', () => {
  const options = { log: silentLogger, now: () => 0, maxSessions: 5 };
  const all = Array.from({ length: 5 }, (_, at) => ({ id: String(at), usedAt: at, isBusy: false }));
  const [first, second, third, fourth, fifth] = all;
  const sessions = served(...all);
  const evictions = new Evictions();
  const next = (): unknown => {
    const found = evictions.next(sessions, options);
    if (found !== undefined) sessions.delete(found.id);
    return found;
  };
  expect(next()).toBe(first);
  if (second !== undefined) second.usedAt = 9;
  if (third !== undefined) third.isBusy = true;
  sessions.delete('3');
  expect(next()).toBe(fifth);
  expect(next()).toBe(second);
  expect(next()).toBeUndefined();
  if (third !== undefined) third.isBusy = false;
  expect([next(), next()]).toEqual([third, undefined]);
  expect(sessions.size).toBe(0);
  expect(fourth?.isBusy).toBe(false);
});
