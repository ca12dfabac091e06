import { describe, expect, test } from 'vitest';

import { Payload } from '../../core/lib/payload.ts';
import { MAX_NESTING, measureNesting } from './measure-nesting.ts';
import { toScriptValue } from './to-script-value.ts';

const text = (value: string) => ({ type: 'text', text: value });

function valueOf(result: unknown, raw = false): unknown {
  return toScriptValue(Payload.ofText(JSON.stringify(result)), { tool: 'a__b', raw });
}

describe('tool result in a script', () => {
  test.each([
    ['structured content', { content: [text('x')], structuredContent: { a: 1 } }, { a: 1 }],
    ['structured null', { content: [text('x')], structuredContent: null }, null],
    ['an object as text', { content: [text(' {"a":[1]}\n')] }, { a: [1] }],
    ['a text', { content: [text('hello')] }, 'hello'],
    ['a number as text', { content: [text('42')] }, '42'],
    ['a text that begins like JSON', { content: [text('[draft] hello')] }, '[draft] hello'],
    ['several texts', { content: [text('a'), text('b')] }, 'a\nb'],
    ['empty content', { content: [] }, ''],
    ['no content', {}, ''],
    [
      'a picture',
      { content: [text('a'), { type: 'image', data: 'eA==' }] },
      [text('a'), { type: 'image', data: 'eA==' }],
    ],
  ])('tool value: unwraps %s', (_, result, expected) => {
    expect(valueOf(result)).toEqual({ kind: 'value', json: JSON.stringify(expected), isMarked: false });
  });

  test('tool value: is the raw result on request', () => {
    const result = { content: [text('no')], isError: true, _meta: { a: 1 } };
    expect(valueOf(result, true)).toEqual({ kind: 'value', json: JSON.stringify(result), isMarked: false });
  });

  test('tool value: is an error with the text of a failed result', () => {
    const result = { content: [text('no'), text('really')], isError: true, structuredContent: { why: 1 } };
    expect(valueOf(result)).toEqual({
      kind: 'error',
      json: '{"message":"no\\nreally","tool":"a__b","result":{"structuredContent":{"why":1}}}',
    });
    expect(valueOf({ content: [], isError: true })).toMatchObject({
      json: expect.stringContaining('did not say why') as string,
    });
  });

  test('tool value: keeps large integers exact', () => {
    const payload = Payload.ofText('{"structuredContent":{"id":9223372036854775807}}');
    const marked = { kind: 'value', json: '{"id":"\uE000exact:9223372036854775807"}', isMarked: true };
    expect(toScriptValue(payload, { tool: 'x', raw: false })).toEqual(marked);
    const asText = Payload.of({ content: [text('{"id":9223372036854775807}')] });
    expect(toScriptValue(asText, { tool: 'x', raw: false })).toEqual(marked);
  });
});

test('nesting depth: ignores brackets inside strings', () => {
  expect(['1', '[]', '[{"a":[1]}]', '"[[["', '["\\"[[", {}]', '[[],[]]'].map(measureNesting)).toEqual([
    0, 1, 3, 0, 2, 2,
  ]);
  expect(measureNesting('['.repeat(100_000))).toBeGreaterThan(MAX_NESTING);
});
