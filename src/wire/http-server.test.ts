import { describe, expect, it } from 'vitest';

import { isJsonType, readAccept } from './http-server.ts';

describe('readAccept', () => {
  it.each([
    [undefined, true, true],
    ['*/*', true, true],
    ['application/json, text/event-stream', true, true],
    ['Text/Event-Stream;q=0.9,APPLICATION/JSON', true, true],
    ['application/json', true, false],
    ['application/*', true, false],
    ['text/event-stream', false, true],
    ['text/event-stream, */*;q=0.1', true, true],
    ['application/json;q=0, text/*', false, true],
    ['text/html', false, false],
    ['', false, false],
  ])('reads %s', (header, json, events) => {
    expect(readAccept(header)).toEqual({ json, events });
  });
});

describe('isJsonType', () => {
  it.each([
    ['application/json', true],
    ['application/json;charset=utf-8', true],
    ['APPLICATION/JSON ; x=y', true],
    ['application/jsonl', false],
    ['text/json', false],
    [undefined, false],
  ])('judges %s', (header, expected) => {
    expect(isJsonType(header)).toBe(expected);
  });
});
