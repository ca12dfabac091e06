import { expect, test } from 'vitest';

import type { UpstreamName } from '../core/ids.ts';
import { createDescriptionOverrides } from './tool-settings.ts';

const name = 'git' as UpstreamName;
const tool = { name: 'create_issue', description: 'Creates.', inputSchema: {} };

test("descriptions: append to or replace the server's text, and the first matching glob wins", () => {
  const describe = createDescriptionOverrides([
    { name, tools: { describe: { 'create_*': { append: 'Ours.' }, '*': { replace: 'Only.' } } } },
  ]);
  expect(describe?.(name, tool)).toEqual({ ...tool, description: 'Creates.\n\nOurs.' });
  expect(describe?.(name, { ...tool, name: 'x' })).toMatchObject({ description: 'Only.' });
  expect(describe?.('other' as UpstreamName, tool)).toBe(tool);
});

test('descriptions: are undefined when none are configured', () => {
  expect(createDescriptionOverrides([{ name, tools: {} }])).toBeUndefined();
});
