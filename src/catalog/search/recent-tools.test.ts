import { expect, test } from 'vitest';

import type { ToolEntry } from '../../core/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../../core/ids.ts';
import { RecentTools } from './recent-tools.ts';

function entry(name: string): ToolEntry {
  return {
    kind: 'tool',
    upstream: 's' as UpstreamName,
    name: name as ExposedName,
    fingerprint: name as Fingerprint,
    definition: { name },
  };
}

test('recent tools: prefers the tools used last and ignores unused ones', () => {
  const recent = new RecentTools();
  for (const name of ['one', 'two', 'one', 'three']) recent.add('me', name);
  const prior = recent.prior('me');
  expect(prior?.(entry('three'))).toBe(1);
  expect(prior?.(entry('one'))).toBeLessThan(1);
  expect(prior?.(entry('one'))).toBeGreaterThan(prior?.(entry('two')) ?? 1);
  expect(prior?.(entry('four'))).toBe(0);
});

test('recent tools: keeps callers separate', () => {
  const recent = new RecentTools();
  recent.add('me', 'one');
  expect(recent.prior('you')).toBeUndefined();
  recent.add('you', 'two');
  expect(recent.prior('you')?.(entry('one'))).toBe(0);
});

test('recent tools: evicts the least recently used tools and callers', () => {
  const recent = new RecentTools();
  recent.add('first', 'tool');
  recent.add('second', 'tool');
  recent.add('first', 'tool');
  for (let at = 0; at < 499; at += 1) recent.add(`caller${at}`, 'tool');
  expect([recent.has('first'), recent.has('second')]).toEqual([true, false]);
  for (let at = 0; at < 40; at += 1) recent.add('me', `tool${at}`);
  const prior = recent.prior('me');
  expect(prior?.(entry('tool7'))).toBe(0);
  expect(prior?.(entry('tool8'))).toBeGreaterThan(0);
});
