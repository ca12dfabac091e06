import { expect, test } from 'vitest';

import { silentLogger } from '../../observe/log.ts';
import { Evictions } from './evictions.ts';
import type { Session } from './session.ts';

test('the longest idle session makes room, and it is not said for each of many', () => {
  const said: unknown[] = [];
  const log = { ...silentLogger, info: (_: string, fields?: unknown) => void said.push(fields) };
  let time = 0;
  const now = () => time;
  const session = (usedAt: number, isBusy = false) => ({ usedAt, isBusy }) as Session; // Only these are read.
  const [busy, idle, newer] = [session(1, true), session(2), session(3)];
  const evictions = new Evictions();
  const options = { log, now, maxSessions: 3 };
  expect(evictions.next([newer, busy, idle], options)).toBe(idle);
  expect(evictions.next([busy], options)).toBeUndefined();
  expect(evictions.next([busy, newer], options)).toBe(newer);
  expect(evictions.next([idle], options)).toBe(idle);
  expect(said).toEqual([{ maxSessions: 3, count: 1 }]);
  time = 10_000;
  evictions.next([idle], options);
  expect(said).toEqual([
    { maxSessions: 3, count: 1 },
    { maxSessions: 3, count: 3 },
  ]);
});
