import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { jsonText, readExactly } from '../../test/support/json-text.ts';
import { Payload } from '../lib/payload.ts';
import { errorTable, GatewayError, RpcError } from '../model/errors.ts';
import type { ErrorCode } from '../model/errors.ts';
import { resultForEra, toRpcError, toToolResult } from './to-wire.ts';

// The keys of the table are the codes, by its type.
const codes = Object.keys(errorTable) as ErrorCode[];

describe('toToolResult', () => {
  test.each(codes)('gives a model what it can act on: %s', (code) => {
    const result = toToolResult(new GatewayError(code, 'What happened.', { details: { secret: 1 } }));
    const expected = {
      content: [{ type: 'text', text: 'What happened.' }],
      isError: true,
      _meta: { 'trunkline/code': code },
    };
    expect(result?.value).toEqual(errorTable[code].toModel ? expected : undefined);
  });

  test('gives a model nothing of an error that is not ours', () => {
    expect(toToolResult(new RpcError({ code: -32603, message: 'x' }))).toBeUndefined();
    expect(toToolResult(new TypeError('x'))).toBeUndefined();
  });
});

describe('toRpcError', () => {
  test('passes an error of a server on as it came', () => {
    const body = { code: -32000, message: 'no', data: { a: [1] } };
    expect(toRpcError(new RpcError(body), 'legacy')).toEqual(body);
    expect(toRpcError(new RpcError(body), 'modern')).toEqual(body);
  });

  test('says a missing resource in the words of the era, whoever misses it', () => {
    const theirs = new RpcError({ code: -32002, message: 'gone', data: { uri: 'a' } });
    const ours = new GatewayError('ENTRY_NOT_FOUND', 'gone', { details: { kind: 'resource', uri: 'a' } });
    expect(toRpcError(theirs, 'legacy')).toEqual({ code: -32002, message: 'gone', data: { uri: 'a' } });
    expect(toRpcError(theirs, 'modern')).toEqual({ code: -32602, message: 'gone', data: { uri: 'a' } });
    expect(toRpcError(ours, 'legacy')).toMatchObject({ code: -32002, data: { uri: 'a' } });
    expect(toRpcError(ours, 'modern')).toMatchObject({ code: -32602, data: { uri: 'a' } });
    expect(toRpcError(new RpcError({ code: -32602, message: 'x' }), 'legacy').code).toBe(-32602);
  });

  test.each(codes)('has the code of the table for %s, and tells no details', (code) => {
    const error = toRpcError(new GatewayError(code, 'What happened.', { details: { secret: 1 } }), 'modern');
    expect(error).toEqual({ code: errorTable[code].rpc, message: 'What happened.', data: { code } });
  });

  test('tells nothing of a bug of ours', () => {
    expect(JSON.stringify(toRpcError(new TypeError('secret at /path'), 'legacy'))).not.toContain('secret');
  });
});

describe('resultForEra', () => {
  const cacheable = { isCacheable: true };
  const not = { isCacheable: false };

  test('leaves an older result for an older client as it is', () => {
    const payload = Payload.ofText('{ "content": [], "n": 1e400 }');
    expect(resultForEra(payload, 'legacy', cacheable)).toBe(payload);
  });

  test('takes from a modern result what an older client does not know', () => {
    const payload = Payload.ofText(
      '{"resultType":"complete","n":1e400,"ttlMs":5,"cacheScope":"public","content":[]}',
    );
    expect(resultForEra(payload, 'legacy', not).text).toBe('{"n":1e400,"content":[]}');
  });

  test('declines a question that an older client cannot be asked yet', () => {
    const payload = Payload.of({ resultType: 'input_required', inputRequests: {} });
    expect(() => resultForEra(payload, 'legacy', not)).toThrow(
      expect.objectContaining({ code: 'QUESTION_DECLINED' }),
    );
    expect(resultForEra(payload, 'modern', not)).toBe(payload);
  });

  test('completes an older result for a modern client without writing it anew', () => {
    const payload = Payload.ofText('{"content":[],"n":1.0}');
    expect(resultForEra(payload, 'modern', not).text).toBe('{"resultType":"complete","content":[],"n":1.0}');
    expect(resultForEra(payload, 'modern', cacheable).text).toBe(
      '{"resultType":"complete","ttlMs":0,"cacheScope":"private","content":[],"n":1.0}',
    );
    expect(resultForEra(Payload.ofText('{}'), 'modern', not).text).toBe('{"resultType":"complete"}');
  });

  test('leaves a modern result for a modern client as it is, but marks nothing as cacheable', () => {
    const payload = Payload.ofText('{"resultType":"complete","ttlMs":5000,"cacheScope":"public","n":1e400}');
    expect(resultForEra(payload, 'modern', not)).toBe(payload);
    expect(resultForEra(payload, 'modern', cacheable).text).toBe(
      '{"resultType":"complete","ttlMs":0,"cacheScope":"private","n":1e400}',
    );
  });

  test('leaves alone what is no object', () => {
    for (const value of [null, 5, 'x', [1]]) {
      const payload = Payload.of(value);
      expect(resultForEra(payload, 'modern', cacheable)).toBe(payload);
      expect(resultForEra(payload, 'legacy', cacheable)).toBe(payload);
    }
  });

  test('says each thing once, whatever the server said', () => {
    const members = fc.uniqueArray(
      fc.tuple(
        fc.constantFrom('resultType', 'ttlMs', 'cacheScope', 'content', '_meta'),
        jsonText({ whitespace: true }),
      ),
      { selector: ([key]) => key },
    );
    fc.assert(
      fc.property(members, fc.constantFrom('legacy', 'modern'), fc.boolean(), (given, era, isCacheable) => {
        const text = `{${given.map(([key, value]) => `"${key}":${value}`).join(',')}}`;
        const written = resultForEra(Payload.ofText(text), era, { isCacheable }).text;
        const own = (key: string): string[] => (given.some(([name]) => name === key) ? [key] : []);
        const before = readExactly(text) as Map<string, unknown>;
        const after = readExactly(written) as Map<string, unknown>;
        for (const key of ['content', '_meta']) expect(after.get(key)).toEqual(before.get(key));
        if (era === 'modern' && isCacheable) {
          expect([after.get('ttlMs'), after.get('cacheScope')]).toEqual([{ number: '0' }, 'private']);
        }
        const modern = isCacheable
          ? ['resultType', 'ttlMs', 'cacheScope']
          : ['resultType', ...own('ttlMs'), ...own('cacheScope')];
        expect([...after.keys()].toSorted()).toEqual(
          [...(era === 'modern' ? modern : []), ...own('content'), ...own('_meta')].toSorted(),
        );
      }),
    );
  });
});
