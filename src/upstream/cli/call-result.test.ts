import { expect, test } from 'vitest';

import { toCallResult } from './call-result.ts';

const captured = (bytes: Buffer | string, total?: number) => ({
  bytes: Buffer.from(bytes),
  total: total ?? Buffer.from(bytes).length,
});
const ended = (changes: object) =>
  toCallResult({
    stdout: captured(''),
    stderr: captured(''),
    code: 0,
    signal: null,
    isFlood: false,
    ...changes,
  });

test('call result: contains exactly what the program wrote', () => {
  expect(ended({ stdout: captured('a\n') })).toEqual({
    content: [{ type: 'text', text: 'a\n' }],
    isError: false,
    _meta: { 'trunkline/exitCode': 0 },
  });
  expect(ended({ stderr: captured(' \n') })['content']).toEqual([
    { type: 'text', text: '[The program succeeded and wrote no output.]' },
  ]);
  expect(ended({ stdout: captured('a'), stderr: captured('b') })['content']).toEqual([
    { type: 'text', text: 'a' },
    { type: 'text', text: '--- standard error ---\nb' },
  ]);
});

test('call result: reports a signal, too much output and invalid UTF-8', () => {
  expect(ended({ code: null, signal: 'SIGKILL' })).toEqual({
    content: [{ type: 'text', text: '[The program was ended by SIGKILL.]' }],
    isError: true,
    _meta: { 'trunkline/signal': 'SIGKILL' },
  });
  expect(JSON.stringify(ended({ code: null, signal: 'SIGTERM', isFlood: true }))).toContain(
    'wrote too much output',
  );
  expect(JSON.stringify(ended({ stdout: captured(Buffer.from([0x61, 0xff])) }))).toContain('not valid UTF-8');
});
