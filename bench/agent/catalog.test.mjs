import { expect, test } from 'vitest';

import { trialTasks } from './catalog.mjs';

test('agent bench: has at least 60 well-formed tasks of every kind', () => {
  const tasks = trialTasks({ servers: [], isPublic: true });
  expect(tasks.length).toBeGreaterThanOrEqual(60);
  expect([...new Set(tasks.map(({ kind }) => kind))]).toEqual([
    'clear',
    'vague',
    'cross',
    'big',
    'destructive',
    'flat',
    'strings',
    'language',
    'typo',
    'missing',
  ]);
  for (const { kind, request, steps } of tasks) {
    expect(request).not.toBe('');
    for (const { query, tools, select } of steps) {
      expect(query, request).not.toBe('');
      expect(select, request).toMatch(/\S/);
      expect(
        tools.every((tool) => /^[\w-]+\/[\w-]+$/.test(tool)),
        request,
      ).toBe(true);
      expect(tools.length === 0, request).toBe(kind === 'missing');
    }
  }
});
