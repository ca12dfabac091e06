import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { JsonObject } from '../model/json.ts';
import { withEnvelope, withoutEnvelope } from './envelope.ts';
import { META, MODERN_VERSION } from './era.ts';

const client = { info: { name: 'us' }, capabilities: { roots: {} } };
const objects = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });

describe('withEnvelope', () => {
  test('says who asks, in which version and what they can do', () => {
    expect(withEnvelope(undefined, client)).toEqual({
      _meta: {
        [META.protocolVersion]: MODERN_VERSION,
        [META.clientInfo]: client.info,
        [META.clientCapabilities]: client.capabilities,
      },
    });
  });

  test('replaces what somebody else said about themselves and keeps the rest', () => {
    const params = {
      x: 1,
      _meta: { [META.protocolVersion]: 'old', [META.clientInfo]: { name: 'them' }, traceparent: 't' },
    };
    const { _meta, ...rest } = withEnvelope(params, client);
    expect(rest).toEqual({ x: 1 });
    expect(_meta).toMatchObject({
      [META.protocolVersion]: MODERN_VERSION,
      [META.clientInfo]: client.info,
      traceparent: 't',
    });
  });
});

describe('withoutEnvelope', () => {
  test('takes away what concerned one hop and keeps traces and the keys of vendors', () => {
    const hop = Object.fromEntries(Object.values(META).map((key) => [key, 1]));
    const params = { x: 1, _meta: { ...hop, progressToken: 5, traceparent: 't', 'vendor/key': { y: 2 } } };
    expect(withoutEnvelope(params)).toEqual({ x: 1, _meta: { traceparent: 't', 'vendor/key': { y: 2 } } });
  });

  test('leaves no empty metadata behind', () => {
    expect(withoutEnvelope({ x: 1, _meta: { progressToken: 5 } })).toEqual({ x: 1 });
  });

  test('gives the very same object where there is nothing to take away', () => {
    for (const params of [
      {},
      { x: 1 },
      { _meta: {} },
      { _meta: { traceparent: 't' } },
      { _meta: 'text' },
      { _meta: null },
    ]) {
      expect(withoutEnvelope(params)).toBe(params);
    }
  });

  test('undoes the envelope, whatever the params are', () => {
    fc.assert(
      fc.property(objects, fc.option(objects, { nil: undefined }), (members, meta) => {
        const params: JsonObject = meta === undefined ? members : { ...members, _meta: meta };
        fc.pre(meta !== undefined || !('_meta' in members));
        const bare = withoutEnvelope(withEnvelope(params, client));
        expect({ _meta: {}, ...bare }).toEqual({ _meta: {}, ...withoutEnvelope(params) });
      }),
    );
  });
});
