import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { JsonObject } from '../core/json.ts';
import { withEnvelope, withoutEnvelope } from './envelope.ts';
import { META_KEYS, MODERN_VERSION } from './era.ts';

const client = { info: { name: 'us' }, capabilities: { roots: {} } };
const objects = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });

describe('withEnvelope', () => {
  test('envelope: carries client info, protocol version and capabilities', () => {
    expect(withEnvelope(undefined, client)).toEqual({
      _meta: {
        [META_KEYS.protocolVersion]: MODERN_VERSION,
        [META_KEYS.clientInfo]: client.info,
        [META_KEYS.clientCapabilities]: client.capabilities,
      },
    });
  });

  test('envelope: replaces foreign client metadata and keeps the rest', () => {
    const params = {
      x: 1,
      _meta: {
        [META_KEYS.protocolVersion]: 'old',
        [META_KEYS.clientInfo]: { name: 'them' },
        traceparent: 't',
      },
    };
    const { _meta, ...rest } = withEnvelope(params, client);
    expect(rest).toEqual({ x: 1 });
    expect(_meta).toMatchObject({
      [META_KEYS.protocolVersion]: MODERN_VERSION,
      [META_KEYS.clientInfo]: client.info,
      traceparent: 't',
    });
  });
});

describe('withoutEnvelope', () => {
  test('envelope removal: drops per-hop metadata and keeps traces and vendor keys', () => {
    const hop = Object.fromEntries(Object.values(META_KEYS).map((key) => [key, 1]));
    const params = { x: 1, _meta: { ...hop, progressToken: 5, traceparent: 't', 'vendor/key': { y: 2 } } };
    expect(withoutEnvelope(params)).toEqual({ x: 1, _meta: { traceparent: 't', 'vendor/key': { y: 2 } } });
  });

  test('envelope removal: leaves no empty _meta behind', () => {
    expect(withoutEnvelope({ x: 1, _meta: { progressToken: 5 } })).toEqual({ x: 1 });
  });

  test('envelope removal: returns the same object when nothing is removed', () => {
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

  test('envelope removal: undoes the envelope for any params', () => {
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
