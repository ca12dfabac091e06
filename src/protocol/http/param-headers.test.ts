import { describe, expect, test } from 'vitest';

import { findHeaderParams, buildParamHeaders } from './param-headers.ts';

const text = { type: 'string', 'x-mcp-header': 'Region' };

describe('annotated parameters', () => {
  test('annotated parameters: are found at any depth of properties', () => {
    const schema = {
      type: 'object',
      properties: {
        region: text,
        where: { properties: { floor: { type: 'integer', 'x-mcp-header': 'Floor' } } },
      },
    };
    expect(findHeaderParams(schema)).toEqual([
      { path: ['region'], header: 'Region' },
      { path: ['where', 'floor'], header: 'Floor' },
    ]);
  });

  test('annotated parameters: are empty without annotations or schema', () => {
    expect(findHeaderParams({ type: 'object', properties: { a: { type: 'string' } } })).toEqual([]);
    expect(findHeaderParams(undefined)).toEqual([]);
    expect(findHeaderParams({ properties: { a: { default: { 'x-mcp-header': '' } } } })).toEqual([]);
  });

  test.each([
    ['an empty name', { properties: { a: { type: 'string', 'x-mcp-header': '' } } }],
    ['a name that is not a token', { properties: { a: { type: 'string', 'x-mcp-header': 'My Region' } } }],
    ['type number', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }],
    ['type object', { properties: { a: { type: 'object', 'x-mcp-header': 'A' } } }],
    ['names that differ only in case', { properties: { a: text, b: { ...text, 'x-mcp-header': 'REGION' } } }],
    ['an annotation on array items', { properties: { a: { type: 'array', items: text } } }],
    ['an annotation inside anyOf', { anyOf: [{ properties: { a: text } }] }],
    ['an annotation on the root', text],
  ])('annotated parameters: are rejected with %s', (_, schema) => {
    expect(findHeaderParams(schema)).toBeUndefined();
  });
});

describe('parameter headers', () => {
  const params = [
    { path: ['region'], header: 'Region' },
    { path: ['where', 'floor'], header: 'Floor' },
    { path: ['toString'], header: 'Odd' },
  ];

  test('parameter headers: repeat the arguments as text', () => {
    expect(buildParamHeaders(params, { region: 'eu', where: { floor: 3 } })).toEqual({
      'Mcp-Param-Region': 'eu',
      'Mcp-Param-Floor': '3',
    });
  });

  test('parameter headers: omit missing and null arguments', () => {
    expect(buildParamHeaders(params, { region: null, where: 'upstairs' })).toEqual({});
    expect(buildParamHeaders(params, undefined)).toEqual({});
  });
});
