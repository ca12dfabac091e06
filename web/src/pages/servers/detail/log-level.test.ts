import { expect, test } from 'vitest';

import type { AdminLogLine } from '../../../../../src/admin/contract/contract.ts';
import { logLevelOf, matchesLogFilter } from './log-level.ts';

function line(text: string, from: AdminLogLine['from'] = 'stderr'): AdminLogLine {
  return { at: 0, from, text };
}

test('log level: is the one that the gateway states, or guessed from the beginning of the line', () => {
  const lines: readonly (readonly [AdminLogLine, string])[] = [
    [line('info: Connected. {"error":0}', 'gateway'), 'info'],
    [line('warn: The server wrote no message.', 'gateway'), 'warn'],
    [line('error: It ended.', 'gateway'), 'error'],
    [line('Listening on stdio'), 'info'],
    [line('2026-11-18 10:00:00 [WARNING] slow query'), 'warn'],
    [line('TypeError: x is not a function'), 'error'],
    [line('ERROR no such table'), 'error'],
    [line('{"level":"debug","msg":"x"}'), 'debug'],
    [line(`${'x'.repeat(100)} error`), 'info'],
  ];
  expect(lines.map(([given]) => logLevelOf(given))).toEqual(lines.map(([, level]) => level));
});

test('log filter: shows lines of at least the level that contain the text', () => {
  const warning = line('WARN slow query');
  expect(matchesLogFilter(warning, { level: 'debug', query: ' Slow' })).toBe(true);
  expect(matchesLogFilter(warning, { level: 'warn', query: '' })).toBe(true);
  expect(matchesLogFilter(warning, { level: 'error', query: '' })).toBe(false);
  expect(matchesLogFilter(warning, { level: 'debug', query: 'fast' })).toBe(false);
});
