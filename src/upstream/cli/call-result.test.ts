import { expect, test } from 'vitest';

import { callResult } from './call-result.ts';

const captured = (bytes: Buffer | string, total?: number) => ({
  bytes: Buffer.from(bytes),
  total: total ?? Buffer.from(bytes).length,
});
const ended = (changes: object) =>
  callResult({
    ...{ stdout: captured(''), stderr: captured(''), code: 0, signal: null, isFlood: false },
    ...changes,
  });

test('has what was written, and only what was written', () => {
  expect(ended({ stdout: captured('a\n') })).toEqual({
    content: [{ type: 'text', text: 'a\n' }],
    isError: false,
    _meta: { 'trunkline/exitCode': 0 },
  });
  expect(ended({ stderr: captured(' \n') })['content']).toEqual([
    { type: 'text', text: '[The program ended successfully and wrote nothing.]' },
  ]);
  expect(ended({ stdout: captured('a'), stderr: captured('b') })['content']).toEqual([
    { type: 'text', text: 'a' },
    { type: 'text', text: '--- standard error ---\nb' },
  ]);
});

test('tells of a signal, of a flood and of bytes that are no text', () => {
  expect(ended({ code: null, signal: 'SIGKILL' })).toEqual({
    content: [{ type: 'text', text: '[The program was ended by SIGKILL.]' }],
    isError: true,
    _meta: { 'trunkline/signal': 'SIGKILL' },
  });
  expect(JSON.stringify(ended({ code: null, signal: 'SIGTERM', isFlood: true }))).toContain(
    'did not stop writing',
  );
  expect(JSON.stringify(ended({ stdout: captured(Buffer.from([0x61, 0xff])) }))).toContain('no UTF-8');
});
