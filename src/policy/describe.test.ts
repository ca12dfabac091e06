import { expect, test } from 'vitest';

import type { UpstreamName } from '../model/ids.ts';
import { descriptions } from './describe.ts';

const name = 'git' as UpstreamName;
const tool = { name: 'create_issue', description: 'Creates.', inputSchema: {} };

test('own words stand after, or instead of, what the server says; the first glob counts', () => {
  const describe = descriptions([
    { name, tools: { describe: { 'create_*': { append: 'Ours.' }, '*': { replace: 'Only.' } } } },
  ]);
  expect(describe?.(name, tool)).toEqual({ ...tool, description: 'Creates.\n\nOurs.' });
  expect(describe?.(name, { ...tool, name: 'x' })).toMatchObject({ description: 'Only.' });
  expect(describe?.('other' as UpstreamName, tool)).toBe(tool);
});

test('nothing is done where nobody has own words', () => {
  expect(descriptions([{ name, tools: {} }])).toBeUndefined();
});
