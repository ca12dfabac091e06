import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { jsonText, numberText, readExactly } from '../../test/support/json-text.ts';
import { Payload } from '../core/lib/payload.ts';
import { isJsonObject } from '../core/json.ts';
import {
  serializeError,
  serializeNotification,
  parseMessage,
  serializeRequest,
  serializeResult,
  flattenMessage,
  encodeResult,
} from './rpc-message.ts';
import type { RpcMessage, ParsedMessage } from './rpc-message.ts';

describe('parseMessage', () => {
  test('parse: distinguishes requests, notifications, results and errors', () => {
    expect(parse({ id: 1, method: 'ping' })).toEqual({
      kind: 'request',
      id: 1,
      method: 'ping',
      params: undefined,
    });
    expect(parse({ id: 'a', method: 'x', params: { y: 1 } })).toMatchObject({
      kind: 'request',
      id: 'a',
      params: { y: 1 },
    });
    expect(parse({ method: 'x', params: {} })).toEqual({ kind: 'notification', method: 'x', params: {} });
    expect(parse({ id: 1, result: null })).toMatchObject({ kind: 'result', id: 1 });
    expect(parse({ id: 1, error: { code: -1, message: 'no', data: [1] } })).toEqual({
      kind: 'error',
      id: 1,
      error: { code: -1, message: 'no', data: [1] },
    });
    expect(parse({ id: null, error: { code: -32700, message: 'no' } })).toMatchObject({
      kind: 'error',
      id: null,
    });
  });

  test.each([
    ['not an object', '5', null],
    ['another version', '{"jsonrpc":"1.0","id":5,"method":"x"}', 5],
    ['no version', '{"id":5,"result":{}}', 5],
    ['params in an array', '{"jsonrpc":"2.0","id":5,"method":"x","params":[1]}', 5],
    ['params that are null', '{"jsonrpc":"2.0","id":"a","method":"x","params":null}', 'a'],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"x"}', null],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"x"}', null],
    ['a method that is a number', '{"jsonrpc":"2.0","id":5,"method":6}', 5],
    ['neither method nor answer', '{"jsonrpc":"2.0","id":5}', 5],
    ['a result without an id', '{"jsonrpc":"2.0","result":{}}', null],
  ])('parse: rejects %s as invalid and keeps a readable id', (_, text, id) => {
    expect(parseMessage(text)).toMatchObject({ kind: 'invalid', id });
  });

  describe('undecoded line', () => {
    const result = `{"content":[{"type":"text","text":"${'ü'.repeat(50_000)}"}]}`;
    const spellings = [
      `{"jsonrpc":"2.0","id":5,"result":${result}}`,
      `{"result":${result},"jsonrpc":"2.0","id":5}`,
      `{"id":5,"jsonrpc":"2.0","result":${result}}`,
    ];

    test.each(spellings.map((text) => [text.slice(0, 20), text]))(
      'parse undecoded bytes: reads the same result from %s',
      (_, text) => {
        const read = parseMessage(Buffer.from(text));
        expect(read).toMatchObject({ kind: 'result', id: 5 });
        expect(read.kind === 'result' && read.payload.text).toBe(result);
      },
    );

    test('parse undecoded bytes: keeps the bytes for the two common member orders', () => {
      const kept = spellings.map((text) => {
        const read = parseMessage(Buffer.from(text));
        return read.kind === 'result' && read.payload.bytes !== undefined;
      });
      expect(kept).toEqual([true, true, false]);
    });

    test.each([
      ['a second id after the result', `{"jsonrpc":"2.0","id":5,"result":${result},"id":6}`, 'result', 6],
      [
        'an error after the result',
        `{"jsonrpc":"2.0","id":5,"result":${result},"error":{"code":1}}`,
        'error',
        5,
      ],
      ['a request', `{"jsonrpc":"2.0","id":5,"method":"x","params":${result}}`, 'request', 5],
    ])('parse undecoded bytes: is not misled by %s', (_, text, kind, id) => {
      expect(parseMessage(Buffer.from(text))).toMatchObject({ kind, id });
    });

    test('parse undecoded bytes: rejects invalid JSON as garbage', () => {
      const text = `{"jsonrpc":"2.0","id":5,"result":${result}`;
      expect(parseMessage(Buffer.from(text))).toEqual({ kind: 'garbage' });
      expect(parseMessage(Buffer.from(`${text}]}`))).toEqual({ kind: 'garbage' });
    });
  });

  describe('encodeResult', () => {
    test('write result: produces the same message from text and from bytes', () => {
      const text = `{"a":"${'x'.repeat(100_000)}"}`;
      for (const id of [7, 'a"b']) {
        const bytes = encodeResult(id, Payload.ofBytes(Buffer.from(text)));
        expect(typeof bytes).toBe('object');
        expect(flattenMessage(bytes)).toBe(encodeResult(id, Payload.ofText(text)));
      }
    });
  });

  test('parse: accepts malformed errors so that the request still fails', () => {
    expect(parse({ id: 1, error: {} })).toMatchObject({ kind: 'error', id: 1, error: { code: -32603 } });
    expect(parse({ id: 1, error: 'boom' })).toMatchObject({
      kind: 'error',
      id: 1,
      error: { code: -32603, message: 'boom' },
    });
    expect(parse({ id: 1, error: null, result: {} })).toMatchObject({ kind: 'result', id: 1 });
  });

  test('parse: reads every message of a batch', () => {
    const batch = parseMessage('[{"jsonrpc":"2.0","id":1,"method":"ping"},5,{"jsonrpc":"2.0","method":"x"}]');
    expect(batch).toMatchObject({
      kind: 'batch',
      messages: [{ kind: 'request' }, { kind: 'invalid' }, { kind: 'notification' }],
    });
    expect(parseMessage('[]')).toEqual({ kind: 'batch', messages: [] });
  });

  test('parse: never throws and accepts only valid JSON', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fragments, jsonText({ whitespace: true })),
        (text) => {
          const parsed = parseMessage(text);
          expect(parsed.kind === 'garbage').toBe(!isJson(text));
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('parse: handles 200,000 nested arrays', () => {
    const deep = `{"jsonrpc":"2.0","id":1,"result":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    expect(() => parseMessage(deep)).not.toThrow();
  });
});

describe('server response', () => {
  test.each([
    '{"jsonrpc":"2.0","id":5,"result":{},"id":6}',
    '{"jsonrpc":"2.0","id":5,"result":{"a":{}},"id":6}',
    '{"jsonrpc":"2.0","id":5,"result":{},"result":{"b":1},"id":6}',
    '{"jsonrpc":"2.0","id":5,"result":"}","id":6}',
    '{"result":{},"id":6,"jsonrpc":"2.0","id":5}',
    '{"result":{},"jsonrpc":"2.0","id":6,"jsonrpc":"2.0","id":5}',
    '{"result":1,"result":{"a":",\\"jsonrpc\\":\\"2.0\\",\\"id\\":6}"},"jsonrpc":"2.0","id":5}',
    '{"jsonrpc":"2.0","id":5,"result":{}} {"jsonrpc":"2.0","id":6,"result":{}}',
    '{"jsonrpc":"2.0","id":5,"result":{}}}',
    '{"jsonrpc":"2.0","id":05,"result":{}}',
    '{"result":{},"jsonrpc":"2.0","id":05}',
    '{"result":{},"jsonrpc":"2.0","id":56',
    '{"result":{},"jsonrpc":"2.0","id":5]',
    '{"jsonrpc":"2.0","id":5,"result":{}]',
    '{"jsonrpc":"2.0","id":5,"result":56',
    '{"jsonrpc":"2.0","id":5,"result":[\n{"jsonrpc":"2.0","id":6,"result":{}}\n]}',
    '{"jsonrpc":"2.0","id":5,"result":[\r{"jsonrpc":"2.0","id":6,"result":{}}\r]}',
    '{"jsonrpc":"2.0","id":5,"result":{"\\ud800":"\\u2028"}}',
  ])('parse: reads one result for one id from the ambiguous response %j', (text) => {
    expectOneAnswer(text);
  });

  test('parse: reads one result for one id from random fragments', () => {
    fc.assert(fc.property(fc.oneof(fragments, members), expectOneAnswer), { numRuns: 2000 });
  });

  test('parse: preserves every number in any member order', () => {
    fc.assert(
      fc.property(
        jsonText({ whitespace: true }),
        fc.nat(),
        fc.constantFrom(...spellings),
        (result, id, spell) => {
          const text = spell(String(id), result);
          const parsed = parseMessage(text);
          if (parsed.kind !== 'result') throw new Error(`Not a result: ${text}`);
          expect(parsed.id).toBe(id);
          const written = serializeResult('a"b', parsed.payload);
          expect(readExactly(written)).toEqual(
            readExactly(`{"jsonrpc":"2.0","id":"a\\"b","result":${result}}`),
          );
          expect(written).not.toMatch(/[\r\n]/);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('serialized messages', () => {
  test('serialize: returns an id exactly as received', () => {
    const ids = fc.oneof(
      numberText,
      fc.string().map((text) => JSON.stringify(text)),
    );
    fc.assert(
      fc.property(ids, (id) => {
        const request = parseMessage(`{"jsonrpc":"2.0","id":${id},"method":"x"}`);
        if (request.kind !== 'request') throw new Error('Not a request.');
        const expected = readExactly(`[${id}]`);
        for (const text of [
          serializeResult(request.id, Payload.of({})),
          serializeError(request.id, { code: 1, message: '' }),
        ]) {
          expect([(readExactly(text) as Map<string, unknown>).get('id')]).toEqual(expected);
        }
      }),
    );
  });

  test('serialize: preserves every number of params and errors', () => {
    fc.assert(
      fc.property(jsonText({ whitespace: true }), (value) => {
        const request = parseMessage(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"v":${value}}}`);
        const error = parseMessage(
          `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":${value}}}`,
        );
        if (request.kind !== 'request' || error.kind !== 'error') throw new Error('Not what it was.');
        const params = readExactly(`{"v":${value}}`);
        expect(readExactly(serializeRequest(7, 'y', request.params))).toEqual(
          new Map<string, unknown>([
            ['id', { number: '7e0' }],
            ['jsonrpc', '2.0'],
            ['method', 'y'],
            ['params', params],
          ]),
        );
        expect(
          (readExactly(serializeNotification('y', request.params)) as Map<string, unknown>).get('params'),
        ).toEqual(params);
        const written = (
          readExactly(serializeError(1, error.error)) as Map<string, Map<string, unknown>>
        ).get('error');
        expect(written?.get('data')).toEqual(readExactly(value));
      }),
    );
  });

  test('serialize: produces messages that parse to the same content', () => {
    expect(parseMessage(serializeRequest(3, 'a"b', { x: 1 }))).toEqual({
      kind: 'request',
      id: 3,
      method: 'a"b',
      params: { x: 1 },
    });
    expect(parseMessage(serializeNotification('n', undefined))).toEqual({
      kind: 'notification',
      method: 'n',
      params: undefined,
    });
    expect(parseMessage(serializeError(null, { code: -32700, message: 'no' }))).toMatchObject({
      kind: 'error',
      id: null,
    });
  });
});

const spellings: readonly ((id: string, result: string) => string)[] = [
  (id, result) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`,
  (id, result) => `{"result":${result},"jsonrpc":"2.0","id":${id}}`,
  (id, result) => `{"jsonrpc": "2.0", "id": ${id}, "result": ${result}}`,
  (id, result) => `{"id":${id},"result":${result},"jsonrpc":"2.0"}`,
];

/** Pieces of the two fast spellings in any order. */
const fragments = fc
  .array(
    fc.constantFrom(
      '{"jsonrpc":"2.0","id":',
      '{"result":',
      ',"jsonrpc":"2.0","id":',
      ',"result":',
      ',"id":',
      ',"method":"x"',
      '5',
      '6',
      '05',
      '-0',
      '1e3',
      '{}',
      '{"a":1}',
      '[]',
      '"x"',
      'null',
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ',',
      ':',
      ' ',
      '\n',
    ),
    { maxLength: 10 },
  )
  .map((parts) => parts.join(''));

/** Objects with the members of an answer in any order and number. */
const members = fc
  .array(
    fc.constantFrom(
      '"jsonrpc":"2.0"',
      '"id":5',
      '"id":6',
      '"id":"7"',
      '"result":{}',
      '"result":{"id":6}',
      '"result":"}"',
      '"error":{"code":1,"message":"m"}',
      '"x":{"id":6,"result":{}}',
      '"result":{"a":[{}],"b":"\\"}"}',
    ),
    { maxLength: 6 },
  )
  .chain((parts) => fc.constantFrom(',', ', ', ',\n').map((comma) => `{${parts.join(comma)}}`));

function parse(members: object): ParsedMessage {
  return parseMessage(JSON.stringify({ jsonrpc: '2.0', ...members }));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Expects that our parser and `JSON.parse` agree about the text, and that the forwarded text has the same meaning. */
function expectOneAnswer(text: string): void {
  const parsed = parseMessage(text);
  if (parsed.kind === 'garbage') {
    expect(isJson(text)).toBe(false);
    return;
  }
  const value: unknown = JSON.parse(text);
  if (parsed.kind === 'batch') return;
  expectSame(parsed, value);
}

function expectSame(parsed: RpcMessage, value: unknown): void {
  if (parsed.kind !== 'result' || !isJsonObject(value)) return;
  expect(parsed.id).toBe(value['id']);
  expect(parsed.payload.peek).toEqual(value['result']);
  const passedOn = serializeResult(99, parsed.payload);
  expect(passedOn).not.toMatch(/[\r\n]/);
  expect(JSON.parse(passedOn)).toEqual({ jsonrpc: '2.0', id: 99, result: value['result'] });
  expect(JSON.parse(parsed.payload.text)).toEqual(value['result']);
}
