import { describe, expect, test } from 'vitest';

import type { Outcome } from './messages.ts';
import { runAnswer } from './run-answer.ts';

const limits = { timeoutMs: 1000, cpuMs: 500, memoryMb: 32, maxCalls: 3, maxOutput: 100 };

function answer(
  outcome: Outcome,
  rest: { log?: string[]; isLogCut?: boolean; leftCalls?: boolean } = {},
): unknown {
  return runAnswer({ outcome, log: [], isLogCut: false, leftCalls: false, ...rest }, limits).value;
}

const text = (value: string) => ({ type: 'text', text: value });

describe('the answer of run_code', () => {
  test.each([
    ['a value', '{"a":1}', '{"a":1}'],
    ['a text, as itself', '"a\\nb"', 'a\nb'],
    ['a number that JavaScript cannot hold', '[9223372036854775807]', '[9223372036854775807]'],
    ['null', 'null', 'null'],
  ])('is %s', (_, json, shown) => {
    expect(answer({ kind: 'value', json })).toEqual({ content: [text(shown)] });
  });

  test('says when there is nothing, unless something was logged', () => {
    expect(answer({ kind: 'value' })).toEqual({
      content: [text('The script returned nothing; end it with an expression or with return.')],
    });
    expect(answer({ kind: 'value' }, { log: ['a', 'b'] })).toEqual({ content: [text('console:\na\nb')] });
  });

  test('has the result before what was logged', () => {
    expect(answer({ kind: 'value', json: '1' }, { log: ['a'], isLogCut: true })).toEqual({
      content: [text('1'), text('console:\na\n… (the rest was left out)')],
    });
  });

  test('is cut with a note, and not within a character', () => {
    const { content } = answer({ kind: 'value', json: JSON.stringify(`${'x'.repeat(99)}𝒳y`) }) as {
      content: { text: string }[];
    };
    expect(content.map((block) => block.text)).toEqual([
      'x'.repeat(99),
      expect.stringContaining('has 102 characters and was cut at 100'),
    ]);
  });

  test('is the result of a tool that was handed on', () => {
    const result = {
      content: [{ type: 'image', data: 'eA==', mimeType: 'image/png' }],
      structuredContent: { a: 1 },
      isError: true,
    };
    expect(answer({ kind: 'value', json: JSON.stringify(result) })).toEqual(result);
    for (const odd of [
      { content: [] },
      { content: [{ type: 'image' }] },
      { content: ['x'] },
      { content: [{ type: 'constructor' }] },
    ])
      expect(answer({ kind: 'value', json: JSON.stringify(odd) })).toEqual({
        content: [text(JSON.stringify(odd))],
      });
    const deep = `{"content":${'['.repeat(1000)}${']'.repeat(1000)}}`;
    expect(answer({ kind: 'value', json: deep })).toMatchObject({
      content: [{ type: 'text' }, { type: 'text' }],
    });
  });

  test.each([
    [
      { kind: 'thrown', name: 'TypeError', message: 'no', line: 3 },
      'SCRIPT_FAILED',
      'TypeError: no (line 3)',
    ],
    [{ kind: 'thrown', name: '', message: 'just text' }, 'SCRIPT_FAILED', 'just text'],
    [{ kind: 'stuck' }, 'SCRIPT_FAILED', 'waits for a promise'],
    [{ kind: 'stopped', limit: 'time' }, 'SCRIPT_STOPPED', 'after 1 s'],
    [{ kind: 'stopped', limit: 'cpu' }, 'SCRIPT_STOPPED', '0.5 s'],
    [{ kind: 'stopped', limit: 'memory' }, 'SCRIPT_STOPPED', '32 MB'],
    [{ kind: 'stopped', limit: 'calls' }, 'SCRIPT_STOPPED', '3 calls'],
  ] as const)('to %j is an error %s', (outcome, code, message) => {
    expect(answer(outcome, { log: ['so far'], leftCalls: true })).toEqual({
      content: [
        text(expect.stringContaining(message) as string),
        text('console:\nso far'),
        text(expect.stringContaining('cancelled') as string),
      ],
      isError: true,
      _meta: { 'trunkline/code': code },
    });
  });
});
