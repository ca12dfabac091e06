import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';

import { describe, expect, onTestFinished, test } from 'vitest';

import { GatewayError } from '../../core/errors.ts';
import { formatSseEvent } from './sse-reader.ts';
import {
  answerJson,
  startLocalServer,
  notification,
  request,
  resultFor,
  startEvents,
  openTransport,
} from './local-server.test-support.ts';
import { UnexpectedResponseError, HttpStatusError } from '../client-transport.ts';

describe('HTTP response', () => {
  test('HTTP response: delivers a JSON body as one message', async () => {
    const server = await startLocalServer((got, response) =>
      answerJson(response, resultFor(got.body.id, { a: 'ä' })),
    );
    const { transport, events } = openTransport(server.url);
    transport.send(request(1));
    await events.until(() => events.messages.length === 1);
    expect(events.messages).toEqual([resultFor(1, { a: 'ä' })]);
    expect(server.received[0]?.headers).toMatchObject({
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(request(1).text)),
    });
  });

  test('HTTP response: delivers an event stream as one message per event, the result last', async () => {
    const server = await startLocalServer((got, response) => {
      startEvents(response).write(
        formatSseEvent({ data: '{"jsonrpc":"2.0","method":"notifications/message"}' }),
      );
      response.write(': keep-alive\n\n');
      response.write(formatSseEvent({ data: 'tick', event: 'other' }));
      response.end(formatSseEvent({ data: resultFor(got.body.id), event: 'message' }));
    });
    const { transport, events } = openTransport(server.url);
    transport.send(request(1));
    await events.until(() => events.messages.length === 2);
    expect(events.messages[1]).toBe(resultFor(1));
    expect(events.failures).toEqual([]);
  });

  test('HTTP response: reaches its own request among fifty parallel calls on reused sockets', async () => {
    const server = await startLocalServer((got, response) => {
      setTimeout(() => answerJson(response, resultFor(got.body.id)), (got.body.id % 5) * 4);
    });
    const { transport, events } = openTransport(server.url, { maxSockets: 8 });
    for (let id = 1; id <= 50; id++) transport.send(request(id));
    await events.until(() => events.messages.length === 50);
    expect(new Set(events.messages).size).toBe(50);
    expect(server.sockets.size).toBeLessThanOrEqual(8);
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('HTTP response: decodes %s', async (encoding, compress) => {
    const server = await startLocalServer((got, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': encoding });
      response.end(compress(resultFor(got.body.id)));
    });
    const { transport, events } = openTransport(server.url);
    transport.send(request(1));
    await events.until(() => events.messages.length === 1);
    expect(events.messages).toEqual([resultFor(1)]);
  });

  test('HTTP response: delivers compressed events one by one', async () => {
    let finish = (): void => {};
    const server = await startLocalServer((got, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Content-Encoding': 'gzip' });
      const gzip = createGzip();
      gzip.pipe(response);
      gzip.write(formatSseEvent({ data: '{"jsonrpc":"2.0","method":"a"}' }));
      gzip.flush();
      finish = () => gzip.end(formatSseEvent({ data: resultFor(got.body.id) }));
    });
    const { transport, events } = openTransport(server.url);
    transport.send(request(1));
    await events.until(() => events.messages.length === 1);
    finish();
    await events.until(() => events.messages.length === 2);
    expect(events.messages[1]).toBe(resultFor(1));
  });

  test.each([
    ['JSON', 'application/json', (text: string) => text],
    ['event', 'text/event-stream', (data: string) => formatSseEvent({ data })],
  ])('HTTP response: fails its request when one %s is too large', async (_name, type, write) => {
    const server = await startLocalServer((got, response) => {
      response.writeHead(200, { 'Content-Type': type });
      response.end(write(resultFor(got.body.id, 'x'.repeat(5000))));
    });
    const { transport, events } = openTransport(server.url, { maxMessageBytes: 1000 });
    transport.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]?.error).toMatchObject({ code: 'UPSTREAM_PROTOCOL' });
  });

  test('HTTP response: fails its request when it decompresses to too much', async () => {
    const server = await startLocalServer((got, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' });
      response.end(gzipSync(resultFor(got.body.id, 'x'.repeat(900_000))));
    });
    const { transport, events } = openTransport(server.url, { maxMessageBytes: 100_000 });
    transport.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]?.error).toBeInstanceOf(GatewayError);
  });

  test.each([
    ['has no body', 202, ''],
    ['is a web page', 200, '<html>'],
    ['answers another request', 200, resultFor(99)],
  ])('HTTP response: fails its request when it %s', async (_name, status, text) => {
    const server = await startLocalServer((_got, response) => void response.writeHead(status).end(text));
    const { transport, events } = openTransport(server.url);
    transport.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]).toMatchObject({ id: 1, error: { code: 'UPSTREAM_PROTOCOL' } });
    expect(events.failures[0]?.error).toBeInstanceOf(UnexpectedResponseError);
  });

  test('HTTP response: is accepted with the id as a string or inside a batch', async () => {
    const texts = ['{"id":"1","jsonrpc":"2.0","result":{}}', `[${resultFor(2)}]`];
    const server = await startLocalServer((got, response) =>
      answerJson(response, texts[got.body.id - 1] ?? ''),
    );
    const { transport, events } = openTransport(server.url);
    transport.send(request(1));
    await events.until(() => events.messages.length === 1);
    transport.send(request(2));
    await events.until(() => events.messages.length === 2);
    expect(events.messages).toEqual(texts);
  });
});

describe('HTTP error status', () => {
  test('HTTP error: fails its request with status, headers and body', async () => {
    const server = await startLocalServer((_got, response) => {
      response.writeHead(401, { 'WWW-Authenticate': 'Bearer x' });
      response.end('{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}');
    });
    const { transport, events } = openTransport(server.url);
    transport.send(request(1));
    await events.until(() => events.failures.length === 1);
    const error = events.failures[0]?.error;
    expect(error).toBeInstanceOf(HttpStatusError);
    expect(error).toMatchObject({
      status: 401,
      isSessionLost: false,
      headers: { 'www-authenticate': 'Bearer x' },
    });
  });

  test('HTTP error: keeps only the first 64 KiB of the body', async () => {
    const server = await startLocalServer(
      (_got, response) => void response.writeHead(500).end('x'.repeat(300_000)),
    );
    const { transport, events } = openTransport(server.url);
    transport.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]?.error).toMatchObject({ body: 'x'.repeat(65_536) });
  });

  test.each([
    [404, 1],
    [400, null],
    [500, 1],
  ])('HTTP error: delivers the JSON-RPC error in a %i response with id %j', async (status, id) => {
    const error = { code: -32601, message: 'no' };
    const server = await startLocalServer((_got, response) =>
      answerJson(response, JSON.stringify({ jsonrpc: '2.0', id, error }), status),
    );
    const { transport, events } = openTransport(server.url);
    transport.send(request(1));
    await events.until(() => events.messages.length === 1);
    expect(JSON.parse(events.messages[0] ?? '')).toEqual({ jsonrpc: '2.0', id: 1, error });
    expect(events.origins).toEqual([1]);
  });

  test.each([405, 429, 503])(
    'HTTP error: fails its request on %i when the JSON-RPC error has no id',
    async (status) => {
      const text = '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}';
      const server = await startLocalServer((_got, response) => answerJson(response, text, status));
      const { transport, events } = openTransport(server.url);
      transport.send(request(1));
      await events.until(() => events.failures.length === 1);
      expect(events.failures[0]?.error).toMatchObject({ status, body: text });
    },
  );
});

describe('HTTP connection', () => {
  test('HTTP connection: fails its request with ECONNREFUSED when refused', async () => {
    const { transport, events } = openTransport('http://127.0.0.1:1/mcp');
    transport.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]).toMatchObject({ id: 1, error: { code: 'ECONNREFUSED' } });
    expect(events.closings).toEqual([]);
  });

  test('HTTP connection: fails only its own request when it breaks', async () => {
    const server = await startLocalServer((got, response) => {
      if (got.body.id === 1) response.destroy();
      else if (got.body.id === 2)
        response.writeHead(200, { 'Content-Length': '10' }).write('{"a"', () => response.destroy());
      else answerJson(response, resultFor(got.body.id));
    });
    const { transport, events } = openTransport(server.url);
    for (const id of [1, 2, 3]) transport.send(request(id));
    await events.until(() => events.failures.length + events.messages.length === 3);
    expect(events.failures.map(({ error }) => error)).toMatchObject([
      { code: 'ECONNRESET' },
      { code: 'ECONNRESET' },
    ]);
    expect(server.received).toHaveLength(3);
  });

  test('HTTP connection: fails its request with ETIMEDOUT when the handshake takes too long', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    const sockets: Socket[] = [];
    silent.on('connection', (socket) => sockets.push(socket));
    await once(silent, 'listening');
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    // TCP connects, the TLS handshake gets no answer.
    const { port } = silent.address() as AddressInfo;
    const { transport, events } = openTransport(`https://127.0.0.1:${port}/mcp`, { connectTimeoutMs: 50 });
    transport.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]).toMatchObject({ id: 1, error: { code: 'ETIMEDOUT' } });
  });
});

test('HTTP error: only reports rejected notifications and responses', async () => {
  const server = await startLocalServer((_got, response) => void response.writeHead(500).end());
  const { transport, events } = openTransport(server.url);
  transport.send(notification('notifications/cancelled'));
  transport.send({ kind: 'response', text: resultFor(5) });
  await events.until(() => events.warnings.length === 2);
  expect(events.failures).toEqual([]);
});

test('HTTP connection: sends a notification while requests hold every socket', async () => {
  const server = await startLocalServer((got, response) => {
    if (got.body.method === 'notifications/cancelled') response.writeHead(202).end();
  });
  const { transport } = openTransport(server.url, { maxSockets: 1 });
  transport.send(request(1));
  transport.send(request(2));
  transport.send(notification('notifications/cancelled'));
  await server.until(() => server.received.length === 2);
  expect(server.received.map((got) => got.body.method).toSorted()).toEqual([
    'notifications/cancelled',
    'tools/call',
  ]);
});
