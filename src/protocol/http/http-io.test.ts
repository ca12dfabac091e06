import { describe, expect, it } from 'vitest';

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { isJsonType, readAccept, sendJson } from './http-io.ts';

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
  ])('Accept header: parses %s as JSON %j and events %j', (header, json, events) => {
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
  ])('Content-Type: treats %s as JSON: %j', (header, expected) => {
    expect(isJsonType(header)).toBe(expected);
  });
});

describe('sendJson', () => {
  it('send JSON: writes all parts with their total length', async () => {
    const parts = [Buffer.from('{"a":"'), Buffer.alloc(200_000, 'ö'), Buffer.from('"}')];
    const server = createServer((_, response) =>
      sendJson(response, 200, { body: parts, headers: ['X-A', 'b'] }),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const answer = await fetch(`http://127.0.0.1:${port}/`);
      expect(answer.headers.get('content-length')).toBe('200008');
      expect(answer.headers.get('x-a')).toBe('b');
      expect(await answer.json()).toEqual({ a: 'ö'.repeat(100_000) });
    } finally {
      server.close();
    }
  });
});
