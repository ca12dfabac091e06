import { describe, expect, test } from 'vitest';

import { filterRequestMeta } from './filter-request-meta.ts';

describe('filterRequestMeta', () => {
  test('request meta: keeps what MCP defines and removes everything else', () => {
    const defined = {
      traceparent: 't',
      tracestate: 's',
      baggage: 'b',
      'io.modelcontextprotocol/related-task': { taskId: '1' },
      'modelcontextprotocol.io/x': 1,
      'dev.mcp/y': 2,
    };
    const vendor = { 'x-codex-turn-metadata': {}, threadId: '7', 'mcp-like/z': 1, 'example.com/mcp': 1 };
    expect(filterRequestMeta({ a: 1, _meta: { ...defined, ...vendor } }, [])).toEqual({
      a: 1,
      _meta: defined,
    });
  });

  test('request meta: keeps keys that the setting of the server allows', () => {
    const params = { _meta: { 'example.com/a': 1, 'example.com/b': 2, threadId: '7' } };
    expect(filterRequestMeta(params, ['example.com/*'])).toEqual({
      _meta: { 'example.com/a': 1, 'example.com/b': 2 },
    });
    expect(filterRequestMeta(params, ['*'])).toBe(params);
  });

  test('request meta: is left out if nothing of it remains', () => {
    expect(filterRequestMeta({ a: 1, _meta: { threadId: '7' } }, [])).toEqual({ a: 1 });
  });

  test.each([{ a: 1 }, { _meta: 7 }, { _meta: {} }, { _meta: { traceparent: 't' } }])(
    'request meta: parameters without private keys stay the same object: %j',
    (params) => expect(filterRequestMeta(params, [])).toBe(params),
  );
});
