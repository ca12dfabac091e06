import { describe, expect, test } from 'vitest';

import { META } from '../era.ts';
import { sseEvent } from './frame-sse.ts';
import {
  answerJson,
  localServer,
  request,
  resultFor,
  startEvents,
  streamTo,
} from './local-server.test-support.ts';

const modern = { _meta: { [META.protocolVersion]: '2026-07-28' } };

describe('a stream that ends before its answer', () => {
  test('is resumed after the last event, as often as the server wants', async () => {
    let gets = 0;
    const server = await localServer((got, response) => {
      startEvents(response);
      if (got.method === 'POST') return response.end('id: p1\nretry: 100\ndata:\n\n');
      gets++;
      if (gets < 7) return response.end(`id: g${gets}\ndata:\n\n`);
      return response.end(sseEvent({ data: resultFor(1), id: 'g7' }));
    });
    const { stream, events } = streamTo(server.url);
    const before = performance.now();
    stream.send(request(1));
    await events.until(() => events.messages.length === 1);
    expect(performance.now() - before).toBeGreaterThanOrEqual(690);
    expect(server.received.map((got) => got.headers['last-event-id'])).toEqual([
      ...[undefined, 'p1', 'g1', 'g2', 'g3', 'g4', 'g5', 'g6'],
    ]);
    expect(events.failures).toEqual([]);
  });

  test('is resumed where the connection broke', async () => {
    const server = await localServer((got, response) => {
      startEvents(response);
      if (got.method === 'GET') response.end(sseEvent({ data: resultFor(1) }));
      else
        response.write(sseEvent({ data: '{"jsonrpc":"2.0","method":"a"}', id: '1' }), () =>
          response.destroy(),
        );
    });
    const { stream, events } = streamTo(server.url, { random: () => 0 });
    stream.send(request(1));
    await events.until(() => events.messages.length === 2);
    expect(events.messages[1]).toBe(resultFor(1));
  });

  test('is given up after five attempts that bring nothing', async () => {
    const server = await localServer((got, response) => {
      if (got.method === 'GET') response.writeHead(503).end();
      else startEvents(response).end('id: 1\nretry: 100\ndata:\n\n');
    });
    const { stream, events } = streamTo(server.url);
    stream.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(server.received).toHaveLength(6);
    expect(events.failures[0]?.error).toMatchObject({ code: 'UPSTREAM_CLOSED', cause: { status: 503 } });
  });

  test('is given up at once where the server does not resume', async () => {
    const server = await localServer((got, response) => {
      if (got.method === 'GET') response.writeHead(405).end();
      else startEvents(response).end('id: 1\nretry: 100\ndata:\n\n');
    });
    const { stream, events } = streamTo(server.url);
    stream.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(server.received).toHaveLength(2);
  });

  test.each([
    ['had no event ids', {}, ': nothing\n\n'],
    ['belongs to the modern era', modern, 'id: 1\ndata:\n\n'],
  ])('fails its request where it %s', async (_name, params, text) => {
    const server = await localServer((_got, response) => void startEvents(response).end(text));
    const { stream, events } = streamTo(server.url);
    stream.send(request(1, 'tools/call', params));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]).toMatchObject({ id: 1, error: { code: 'UPSTREAM_CLOSED' } });
    expect(server.received).toHaveLength(1);
  });
});

describe('abandoning a request', () => {
  test('closes its stream in the modern era, which tells the server', async () => {
    let isClosed = false;
    const server = await localServer((_got, response) => {
      response.on('close', () => (isClosed = true));
      startEvents(response).write(': working\n\n');
    });
    const { stream, events } = streamTo(server.url);
    stream.send(request(1, 'tools/call', modern));
    await server.until(() => server.received.length === 1);
    expect(stream.abandon(1)).toBe(true);
    await server.until(() => isClosed);
    expect(events.failures).toEqual([]);
  });

  test('leaves it open in the legacy era, but nothing of it is heard any more', async () => {
    const late: (() => void)[] = [];
    const server = await localServer((got, response) => {
      late.push(() => void startEvents(response).end(sseEvent({ data: resultFor(got.body.id) })));
    });
    const { stream, events } = streamTo(server.url);
    stream.send(request(1));
    stream.send(request(2));
    await server.until(() => late.length === 2);
    expect(stream.abandon(1)).toBe(false);
    for (const answer of late) answer();
    await events.until(() => events.messages.length === 1);
    expect(events.messages).toEqual([resultFor(2)]);
  });

  test('needs no word to the server before anything was sent', async () => {
    let tell = (_headers: Record<string, string>): void => {};
    const server = await localServer((got, response) => answerJson(response, resultFor(got.body.id)));
    const { stream, events } = streamTo(server.url, {
      headers: () =>
        new Promise((resolve) => {
          tell = resolve;
        }),
    });
    stream.send(request(1));
    expect(stream.abandon(1)).toBe(true);
    tell({});
    stream.send(request(2));
    tell({});
    await events.until(() => events.messages.length === 1);
    expect(server.received.map((got) => got.body.id)).toEqual([2]);
  });

  test('of one that was answered already is nothing to tell about', async () => {
    const server = await localServer((got, response) => answerJson(response, resultFor(got.body.id)));
    const { stream, events } = streamTo(server.url);
    stream.send(request(1));
    await events.until(() => events.messages.length === 1);
    expect(stream.abandon(1)).toBe(true);
  });
});
