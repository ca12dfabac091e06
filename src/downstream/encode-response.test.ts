import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { jsonText, readExactly } from '../../test/support/json-text.ts';
import { Payload } from '../core/lib/payload.ts';
import { errorTable, GatewayError, RpcError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import { encodeResultForEra, encodeErrorForEra, encodeToolError } from './encode-response.ts';

// The type of the table guarantees that its keys are the error codes.
const codes = Object.keys(errorTable) as ErrorCode[];

describe('tool results for errors', () => {
  test.each(codes)('tool result: reports %s to the model if the error table says so', (code) => {
    const result = encodeToolError(new GatewayError(code, 'What happened.', { details: { secret: 1 } }));
    const expected = {
      content: [{ type: 'text', text: 'What happened.' }],
      isError: true,
      _meta: { 'trunkline/code': code },
    };
    expect(result?.value).toEqual(errorTable[code].isShownToModel ? expected : undefined);
  });

  test('tool result: does not report errors that are not gateway errors', () => {
    expect(encodeToolError(new RpcError({ code: -32603, message: 'x' }))).toBeUndefined();
    expect(encodeToolError(new TypeError('x'))).toBeUndefined();
  });
});

describe('JSON-RPC errors', () => {
  test('rpc error: passes on an upstream error unchanged', () => {
    const body = { code: -32000, message: 'no', data: { a: [1] } };
    expect(encodeErrorForEra(new RpcError(body), 'legacy')).toEqual(body);
    expect(encodeErrorForEra(new RpcError(body), 'modern')).toEqual(body);
  });

  test('rpc error: takes the code of the gateway away from the error of a server', () => {
    const theirs = new RpcError({ code: -32603, message: 'no', data: { code: 'UPSTREAM_NEEDS_AUTH', a: 1 } });
    expect(encodeErrorForEra(theirs, 'legacy')).toEqual({ code: -32603, message: 'no', data: { a: 1 } });
    const other = { code: -32603, message: 'no', data: { code: 'toString' } };
    expect(encodeErrorForEra(new RpcError(other), 'legacy')).toEqual(other);
  });

  test("rpc error: uses the era's code for a missing resource", () => {
    const theirs = new RpcError({ code: -32002, message: 'gone', data: { uri: 'a' } });
    const ours = new GatewayError('ENTRY_NOT_FOUND', 'gone', { details: { kind: 'resource', uri: 'a' } });
    expect(encodeErrorForEra(theirs, 'legacy')).toEqual({
      code: -32002,
      message: 'gone',
      data: { uri: 'a' },
    });
    expect(encodeErrorForEra(theirs, 'modern')).toEqual({
      code: -32602,
      message: 'gone',
      data: { uri: 'a' },
    });
    expect(encodeErrorForEra(ours, 'legacy')).toMatchObject({ code: -32002, data: { uri: 'a' } });
    expect(encodeErrorForEra(ours, 'modern')).toMatchObject({ code: -32602, data: { uri: 'a' } });
    expect(encodeErrorForEra(new RpcError({ code: -32602, message: 'x' }), 'legacy').code).toBe(-32602);
  });

  test.each(codes)('rpc error: uses the code of the error table for %s, without details', (code) => {
    const error = encodeErrorForEra(
      new GatewayError(code, 'What happened.', { details: { secret: 1 } }),
      'modern',
    );
    expect(error).toEqual({ code: errorTable[code].rpc, message: 'What happened.', data: { code } });
  });

  test('rpc error: reveals nothing of an internal error', () => {
    expect(JSON.stringify(encodeErrorForEra(new TypeError('secret at /path'), 'legacy'))).not.toContain(
      'secret',
    );
  });
});

describe('results per era', () => {
  const cacheable = { isCacheable: true };
  const not = { isCacheable: false };

  test('result: passes a legacy result to a legacy client unchanged', () => {
    const payload = Payload.ofText('{ "content": [], "n": 1e400 }');
    expect(encodeResultForEra(payload, 'legacy', cacheable)).toBe(payload);
  });

  test('result: removes modern fields for a legacy client', () => {
    const payload = Payload.ofText(
      '{"resultType":"complete","n":1e400,"ttlMs":5,"cacheScope":"public","content":[]}',
    );
    expect(encodeResultForEra(payload, 'legacy', not).text).toBe('{"n":1e400,"content":[]}');
  });

  test('result: declines input_required for a legacy client', () => {
    const payload = Payload.of({ resultType: 'input_required', inputRequests: {} });
    expect(() => encodeResultForEra(payload, 'legacy', not)).toThrow(
      expect.objectContaining({ code: 'QUESTION_DECLINED' }),
    );
    expect(encodeResultForEra(payload, 'modern', not)).toBe(payload);
  });

  test('result: adds modern fields for a modern client without re-serialising', () => {
    const payload = Payload.ofText('{"content":[],"n":1.0}');
    expect(encodeResultForEra(payload, 'modern', not).text).toBe(
      '{"resultType":"complete","content":[],"n":1.0}',
    );
    expect(encodeResultForEra(payload, 'modern', cacheable).text).toBe(
      '{"resultType":"complete","ttlMs":0,"cacheScope":"private","content":[],"n":1.0}',
    );
    expect(encodeResultForEra(Payload.ofText('{}'), 'modern', not).text).toBe('{"resultType":"complete"}');
  });

  test('result: passes a modern result to a modern client unchanged but never as cacheable', () => {
    const payload = Payload.ofText('{"resultType":"complete","ttlMs":5000,"cacheScope":"public","n":1e400}');
    expect(encodeResultForEra(payload, 'modern', not)).toBe(payload);
    expect(encodeResultForEra(payload, 'modern', cacheable).text).toBe(
      '{"resultType":"complete","ttlMs":0,"cacheScope":"private","n":1e400}',
    );
  });

  test('result: leaves a value that is not an object unchanged', () => {
    for (const value of [null, 5, 'x', [1]]) {
      const payload = Payload.of(value);
      expect(encodeResultForEra(payload, 'modern', cacheable)).toBe(payload);
      expect(encodeResultForEra(payload, 'legacy', cacheable)).toBe(payload);
    }
  });

  test('result: contains each field once, whatever the server sent', () => {
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
        const written = encodeResultForEra(Payload.ofText(text), era, { isCacheable }).text;
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
