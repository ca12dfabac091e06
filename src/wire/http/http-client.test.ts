import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';

import { describe, expect, onTestFinished, test } from 'vitest';

import { GatewayError } from '../../model/errors.ts';
import { sseEvent } from './frame-sse.ts';
import {
  answerJson,
  localServer,
  notification,
  request,
  resultFor,
  startEvents,
  streamTo,
} from './local-server.test-support.ts';
import { ForeignAnswerError, HttpStatusError } from '../stream.ts';

describe('an answer', () => {
  test('as JSON becomes one message', async () => {
    const server = await localServer((got, response) =>
      answerJson(response, resultFor(got.body.id, { a: 'ä' })),
    );
    const { stream, events } = streamTo(server.url);
    stream.send(request(1));
    await events.until(() => events.messages.length === 1);
    expect(events.messages).toEqual([resultFor(1, { a: 'ä' })]);
    expect(server.received[0]?.headers).toMatchObject({
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(request(1).text)),
    });
  });

  test('as an event stream becomes a message per event, the answer last', async () => {
    const server = await localServer((got, response) => {
      startEvents(response).write(sseEvent({ data: '{"jsonrpc":"2.0","method":"notifications/message"}' }));
      response.write(': keep-alive\n\n');
      response.write(sseEvent({ data: 'tick', event: 'other' }));
      response.end(sseEvent({ data: resultFor(got.body.id), event: 'message' }));
    });
    const { stream, events } = streamTo(server.url);
    stream.send(request(1));
    await events.until(() => events.messages.length === 2);
    expect(events.messages[1]).toBe(resultFor(1));
    expect(events.failures).toEqual([]);
  });

  test('of each of fifty parallel calls reaches its own, on sockets that are used again', async () => {
    const server = await localServer((got, response) => {
      setTimeout(() => answerJson(response, resultFor(got.body.id)), (got.body.id % 5) * 4);
    });
    const { stream, events } = streamTo(server.url, { maxSockets: 8 });
    for (let id = 1; id <= 50; id++) stream.send(request(id));
    await events.until(() => events.messages.length === 50);
    expect(new Set(events.messages).size).toBe(50);
    expect(server.sockets.size).toBeLessThanOrEqual(8);
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('in %s is decoded', async (encoding, compress) => {
    const server = await localServer((got, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': encoding });
      response.end(compress(resultFor(got.body.id)));
    });
    const { stream, events } = streamTo(server.url);
    stream.send(request(1));
    await events.until(() => events.messages.length === 1);
    expect(events.messages).toEqual([resultFor(1)]);
  });

  test('in compressed events arrives event by event', async () => {
    let finish = (): void => {};
    const server = await localServer((got, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Content-Encoding': 'gzip' });
      const gzip = createGzip();
      gzip.pipe(response);
      gzip.write(sseEvent({ data: '{"jsonrpc":"2.0","method":"a"}' }));
      gzip.flush();
      finish = () => gzip.end(sseEvent({ data: resultFor(got.body.id) }));
    });
    const { stream, events } = streamTo(server.url);
    stream.send(request(1));
    await events.until(() => events.messages.length === 1);
    finish();
    await events.until(() => events.messages.length === 2);
    expect(events.messages[1]).toBe(resultFor(1));
  });

  test.each([
    ['JSON', 'application/json', (text: string) => text],
    ['event', 'text/event-stream', (data: string) => sseEvent({ data })],
  ])('of one %s that is too large fails its request', async (_name, type, write) => {
    const server = await localServer((got, response) => {
      response.writeHead(200, { 'Content-Type': type });
      response.end(write(resultFor(got.body.id, 'x'.repeat(5000))));
    });
    const { stream, events } = streamTo(server.url, { maxMessageBytes: 1000 });
    stream.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]?.error).toMatchObject({ code: 'UPSTREAM_PROTOCOL' });
  });

  test('that unfolds into too much fails its request', async () => {
    const server = await localServer((got, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' });
      response.end(gzipSync(resultFor(got.body.id, 'x'.repeat(900_000))));
    });
    const { stream, events } = streamTo(server.url, { maxMessageBytes: 100_000 });
    stream.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]?.error).toBeInstanceOf(GatewayError);
  });

  test.each([
    ['without a body', 202, ''],
    ['that is a web page', 200, '<html>'],
    ['to another request', 200, resultFor(99)],
  ])('%s fails its request', async (_name, status, text) => {
    const server = await localServer((_got, response) => void response.writeHead(status).end(text));
    const { stream, events } = streamTo(server.url);
    stream.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]).toMatchObject({ id: 1, error: { code: 'UPSTREAM_PROTOCOL' } });
    expect(events.failures[0]?.error).toBeInstanceOf(ForeignAnswerError);
  });

  test('with our id as text, or in a batch, is still an answer', async () => {
    const texts = ['{"id":"1","jsonrpc":"2.0","result":{}}', `[${resultFor(2)}]`];
    const server = await localServer((got, response) => answerJson(response, texts[got.body.id - 1] ?? ''));
    const { stream, events } = streamTo(server.url);
    stream.send(request(1));
    await events.until(() => events.messages.length === 1);
    stream.send(request(2));
    await events.until(() => events.messages.length === 2);
    expect(events.messages).toEqual(texts);
  });
});

describe('a status that is no success', () => {
  test('fails its request with status, headers and body', async () => {
    const server = await localServer((_got, response) => {
      response.writeHead(401, { 'WWW-Authenticate': 'Bearer x' });
      response.end('{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}');
    });
    const { stream, events } = streamTo(server.url);
    stream.send(request(1));
    await events.until(() => events.failures.length === 1);
    const error = events.failures[0]?.error;
    expect(error).toBeInstanceOf(HttpStatusError);
    expect(error).toMatchObject({
      status: 401,
      sessionLost: false,
      headers: { 'www-authenticate': 'Bearer x' },
    });
  });

  test('keeps only the beginning of a long body', async () => {
    const server = await localServer(
      (_got, response) => void response.writeHead(500).end('x'.repeat(300_000)),
    );
    const { stream, events } = streamTo(server.url);
    stream.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]?.error).toMatchObject({ body: 'x'.repeat(65_536) });
  });

  test.each([
    [404, 1],
    [400, null],
    [500, 1],
  ])('is a message where %i carries a JSON-RPC error with id %j', async (status, id) => {
    const error = { code: -32601, message: 'no' };
    const server = await localServer((_got, response) =>
      answerJson(response, JSON.stringify({ jsonrpc: '2.0', id, error }), status),
    );
    const { stream, events } = streamTo(server.url);
    stream.send(request(1));
    await events.until(() => events.messages.length === 1);
    expect(JSON.parse(events.messages[0] ?? '')).toEqual({ jsonrpc: '2.0', id: 1, error });
    expect(events.origins).toEqual([1]);
  });

  test.each([405, 429, 503])('%i is a failure where its JSON-RPC error has no id', async (status) => {
    const text = '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}';
    const server = await localServer((_got, response) => answerJson(response, text, status));
    const { stream, events } = streamTo(server.url);
    stream.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]?.error).toMatchObject({ status, body: text });
  });
});

describe('a connection', () => {
  test('that is refused fails its request with the system error', async () => {
    const { stream, events } = streamTo('http://127.0.0.1:1/mcp');
    stream.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]).toMatchObject({ id: 1, error: { code: 'ECONNREFUSED' } });
    expect(events.closings).toEqual([]);
  });

  test('that breaks in a call fails that call only', async () => {
    const server = await localServer((got, response) => {
      if (got.body.id === 1) response.destroy();
      else if (got.body.id === 2)
        response.writeHead(200, { 'Content-Length': '10' }).write('{"a"', () => response.destroy());
      else answerJson(response, resultFor(got.body.id));
    });
    const { stream, events } = streamTo(server.url);
    for (const id of [1, 2, 3]) stream.send(request(id));
    await events.until(() => events.failures.length + events.messages.length === 3);
    expect(events.failures.map(({ error }) => error)).toMatchObject([
      { code: 'ECONNRESET' },
      { code: 'ECONNRESET' },
    ]);
    expect(server.received).toHaveLength(3);
  });

  test('that does not come about in time fails its request', async () => {
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
    const { stream, events } = streamTo(`https://127.0.0.1:${port}/mcp`, { connectTimeoutMs: 50 });
    stream.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]).toMatchObject({ id: 1, error: { code: 'ETIMEDOUT' } });
  });
});

test('notifications and answers that are refused are only reported', async () => {
  const server = await localServer((_got, response) => void response.writeHead(500).end());
  const { stream, events } = streamTo(server.url);
  stream.send(notification('notifications/cancelled'));
  stream.send({ kind: 'answer', text: resultFor(5) });
  await events.until(() => events.troubles.length === 2);
  expect(events.failures).toEqual([]);
});

test('a message gets through although calls hold every socket', async () => {
  const server = await localServer((got, response) => {
    if (got.body.method === 'notifications/cancelled') response.writeHead(202).end();
  });
  const { stream } = streamTo(server.url, { maxSockets: 1 });
  stream.send(request(1));
  stream.send(request(2));
  stream.send(notification('notifications/cancelled'));
  await server.until(() => server.received.length === 2);
  expect(server.received.map((got) => got.body.method).toSorted()).toEqual([
    'notifications/cancelled',
    'tools/call',
  ]);
});
