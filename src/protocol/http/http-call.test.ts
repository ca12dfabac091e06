import { describe, expect, test } from 'vitest';

import { META_KEYS } from '../era.ts';
import { formatSseEvent } from './sse-reader.ts';
import {
  answerJson,
  startLocalServer,
  request,
  resultFor,
  startEvents,
  openTransport,
} from './local-server.test-support.ts';

const modern = { _meta: { [META_KEYS.protocolVersion]: '2026-07-28' } };

describe('interrupted response stream', () => {
  test('interrupted stream: resumes after the last event as often as the server requires', async () => {
    let gets = 0;
    const server = await startLocalServer((got, response) => {
      startEvents(response);
      if (got.method === 'POST') return response.end('id: p1\nretry: 100\ndata:\n\n');
      gets++;
      if (gets < 7) return response.end(`id: g${gets}\ndata:\n\n`);
      return response.end(formatSseEvent({ data: resultFor(1), id: 'g7' }));
    });
    const { transport, events } = openTransport(server.url);
    const before = performance.now();
    transport.send(request(1));
    await events.until(() => events.messages.length === 1);
    expect(performance.now() - before).toBeGreaterThanOrEqual(690);
    expect(server.received.map((got) => got.headers['last-event-id'])).toEqual([
      undefined,
      'p1',
      'g1',
      'g2',
      'g3',
      'g4',
      'g5',
      'g6',
    ]);
    expect(events.failures).toEqual([]);
  });

  test('interrupted stream: resumes after a broken connection', async () => {
    const server = await startLocalServer((got, response) => {
      startEvents(response);
      if (got.method === 'GET') response.end(formatSseEvent({ data: resultFor(1) }));
      else
        response.write(formatSseEvent({ data: '{"jsonrpc":"2.0","method":"a"}', id: '1' }), () =>
          response.destroy(),
        );
    });
    const { transport, events } = openTransport(server.url, { random: () => 0 });
    transport.send(request(1));
    await events.until(() => events.messages.length === 2);
    expect(events.messages[1]).toBe(resultFor(1));
  });

  test('interrupted stream: fails after five attempts without an event', async () => {
    const server = await startLocalServer((got, response) => {
      if (got.method === 'GET') response.writeHead(503).end();
      else startEvents(response).end('id: 1\nretry: 100\ndata:\n\n');
    });
    const { transport, events } = openTransport(server.url);
    transport.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(server.received).toHaveLength(6);
    expect(events.failures[0]?.error).toMatchObject({ code: 'UPSTREAM_CLOSED', cause: { status: 503 } });
  });

  test('interrupted stream: fails at once when the server does not support resuming', async () => {
    const server = await startLocalServer((got, response) => {
      if (got.method === 'GET') response.writeHead(405).end();
      else startEvents(response).end('id: 1\nretry: 100\ndata:\n\n');
    });
    const { transport, events } = openTransport(server.url);
    transport.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(server.received).toHaveLength(2);
  });

  test.each([
    ['had no event ids', {}, ': nothing\n\n'],
    ['belongs to the modern era', modern, 'id: 1\ndata:\n\n'],
  ])('interrupted stream: fails its request when it %s', async (_name, params, text) => {
    const server = await startLocalServer((_got, response) => void startEvents(response).end(text));
    const { transport, events } = openTransport(server.url);
    transport.send(request(1, 'tools/call', params));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]).toMatchObject({ id: 1, error: { code: 'UPSTREAM_CLOSED' } });
    expect(server.received).toHaveLength(1);
  });
});

describe('abandoned request', () => {
  test('abandoned request: closes its stream in the modern era, which tells the server', async () => {
    let isClosed = false;
    const server = await startLocalServer((_got, response) => {
      response.on('close', () => (isClosed = true));
      startEvents(response).write(': working\n\n');
    });
    const { transport, events } = openTransport(server.url);
    transport.send(request(1, 'tools/call', modern));
    await server.until(() => server.received.length === 1);
    expect(transport.abandon(1)).toBe(true);
    await server.until(() => isClosed);
    expect(events.failures).toEqual([]);
  });

  test('abandoned request: stays open in the legacy era, and its response is ignored', async () => {
    const late: (() => void)[] = [];
    const server = await startLocalServer((got, response) => {
      late.push(() => void startEvents(response).end(formatSseEvent({ data: resultFor(got.body.id) })));
    });
    const { transport, events } = openTransport(server.url);
    transport.send(request(1));
    transport.send(request(2));
    await server.until(() => late.length === 2);
    expect(transport.abandon(1)).toBe(false);
    for (const answer of late) answer();
    await events.until(() => events.messages.length === 1);
    expect(events.messages).toEqual([resultFor(2)]);
  });

  test('abandoned request: needs no notification when nothing was sent yet', async () => {
    let tell = (_headers: Record<string, string>): void => {};
    const server = await startLocalServer((got, response) => answerJson(response, resultFor(got.body.id)));
    const { transport, events } = openTransport(server.url, {
      headers: () =>
        new Promise((resolve) => {
          tell = resolve;
        }),
    });
    transport.send(request(1));
    expect(transport.abandon(1)).toBe(true);
    tell({});
    transport.send(request(2));
    tell({});
    await events.until(() => events.messages.length === 1);
    expect(server.received.map((got) => got.body.id)).toEqual([2]);
  });

  test('abandoned request: needs no notification when it was already answered', async () => {
    const server = await startLocalServer((got, response) => answerJson(response, resultFor(got.body.id)));
    const { transport, events } = openTransport(server.url);
    transport.send(request(1));
    await events.until(() => events.messages.length === 1);
    expect(transport.abandon(1)).toBe(true);
  });
});
