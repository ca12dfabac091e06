import { expect, test } from 'vitest';

import { formatToolError } from './format-tool-error.ts';

test('tool error: prints a list of validation issues as one line per field', () => {
  const issues = [
    { code: 'invalid_type', expected: 'number', received: 'string', path: ['a'], message: 'Expected number' },
    { code: 'too_small', path: ['list', 0, 'name'], message: 'Too short' },
    { code: 'custom', path: [], message: 'Nothing fits' },
  ];
  const text = `MCP error -32602: Invalid arguments for tool add: ${JSON.stringify(issues, null, 2)}`;
  expect(formatToolError(text)).toBe(
    [
      'MCP error -32602: Invalid arguments for tool add:',
      '  a - Expected number (expected number)',
      '  list[0].name - Too short',
      '  the arguments - Nothing fits',
    ].join('\n'),
  );
});

test.each([
  ['The tool failed.'],
  ['It failed [badly].'],
  ['[]'],
  ['Not found: [1, 2]'],
  ['[{"message":"no path"}]'],
])('tool error: prints %s unchanged', (text) => {
  expect(formatToolError(text)).toBe(text);
});
