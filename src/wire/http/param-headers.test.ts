import { describe, expect, test } from 'vitest';

import { headerParams, paramHeaders } from './param-headers.ts';

const text = { type: 'string', 'x-mcp-header': 'Region' };

describe('annotated parameters', () => {
  test('are found at any depth below properties', () => {
    const schema = {
      type: 'object',
      properties: {
        region: text,
        where: { properties: { floor: { type: 'integer', 'x-mcp-header': 'Floor' } } },
      },
    };
    expect(headerParams(schema)).toEqual([
      { path: ['region'], header: 'Region' },
      { path: ['where', 'floor'], header: 'Floor' },
    ]);
  });

  test('are none in a schema without annotations, or without a schema', () => {
    expect(headerParams({ type: 'object', properties: { a: { type: 'string' } } })).toEqual([]);
    expect(headerParams(undefined)).toEqual([]);
    expect(headerParams({ properties: { a: { default: { 'x-mcp-header': '' } } } })).toEqual([]);
  });

  test.each([
    ['an empty name', { properties: { a: { type: 'string', 'x-mcp-header': '' } } }],
    ['a name that is no token', { properties: { a: { type: 'string', 'x-mcp-header': 'My Region' } } }],
    ['a type that has no exact text', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }],
    ['a type that is not simple', { properties: { a: { type: 'object', 'x-mcp-header': 'A' } } }],
    [
      'a name that differs in case only',
      { properties: { a: text, b: { ...text, 'x-mcp-header': 'REGION' } } },
    ],
    ['a place that is no argument', { properties: { a: { type: 'array', items: text } } }],
    ['a place that applies only sometimes', { anyOf: [{ properties: { a: text } }] }],
    ['the root', text],
  ])('are refused with %s', (_, schema) => {
    expect(headerParams(schema)).toBeUndefined();
  });
});

describe('headers of a call', () => {
  const params = [
    { path: ['region'], header: 'Region' },
    { path: ['where', 'floor'], header: 'Floor' },
    { path: ['toString'], header: 'Odd' },
  ];

  test('repeat the arguments as text', () => {
    expect(paramHeaders(params, { region: 'eu', where: { floor: 3 } })).toEqual({
      'Mcp-Param-Region': 'eu',
      'Mcp-Param-Floor': '3',
    });
  });

  test('leave out what is not there or null', () => {
    expect(paramHeaders(params, { region: null, where: 'upstairs' })).toEqual({});
    expect(paramHeaders(params, undefined)).toEqual({});
  });
});
