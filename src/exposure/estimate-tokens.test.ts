import { expect, test } from 'vitest';

import { cpuStopwatch } from '../../test/support/cpu-time.ts';
import { estimateTokens } from './estimate-tokens.ts';

test.each([
  ['', 0, 0],
  ['The quick brown fox jumps over the lazy dog.', 9, 12],
  ['{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}', 16, 26],
  ['查找当前天气并返回温度和湿度信息', 9, 16],
  ['Найти текущую погоду и вернуть температуру', 9, 14],
  ['1234567890', 4, 4],
  ['🚀🚀🚀', 3, 9],
  ['Bundesverfassungsgerichtsentscheidung', 6, 10],
  ['qwhzpxkvbnmrtldfgjscywqhzpxkvbnmrtldfgjs', 9, 30],
  [' '.repeat(2_000), 10, 40],
])('token estimate: of %j is between %i and %i', (text, least, most) => {
  expect(estimateTokens(text)).toBeGreaterThanOrEqual(least);
  expect(estimateTokens(text)).toBeLessThanOrEqual(most);
});

test('token estimate: stops reading a long text at the limit', () => {
  const cpuMs = cpuStopwatch();
  expect(estimateTokens('word '.repeat(2_000_000), 100)).toBeLessThan(105);
  expect(cpuMs()).toBeLessThan(3_000);
});
